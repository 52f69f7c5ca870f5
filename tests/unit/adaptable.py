"""Small tokenizers that tests extend and prune, and what they look at."""

import warnings

import subword
from subword import errors
from subword.decoders import SentencePiece
from subword.models import Piece, Pieces
from subword.normalizers import SentencePieceSpaces
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer

SPACE = "\u2581"


def trained(counts: dict[str, int], n_merges: int) -> Tokenizer:
    """Byte-level BPE with a special token; it may have fewer merges than asked for."""
    table = subword.PretokenCounts.from_mapping(counts, pattern="gpt2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.StoppedEarlyWarning)
        return subword.train_bpe(table, 257 + n_merges, ["<|end|>"])


def extended(
    tok: Tokenizer, counts: dict[str, int], n_tokens: int, **options: object
) -> subword.Adapted:
    """An extension that may find fewer tokens."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.StoppedEarlyWarning)
        return subword.extend(tok, counts, n_tokens, **options)


def token_ends(tok: Tokenizer, text: str) -> set[int]:
    """Where tokens end in the bytes of a text."""
    at, found = 0, set()
    for token_id in tok.encode(text):
        at += len(tok.token_bytes(token_id))
        found.add(at)
    return found


def pieces_of(texts: list[str]) -> Tokenizer:
    """A SentencePiece BPE model with byte fallback; texts in the order of their scores."""
    pieces = [Piece(b"<unk>", 0.0, "unknown"), Piece(b"</s>", 0.0, "control")]
    pieces += [Piece(f"<0x{byte:02X}>".encode(), 0.0, "byte") for byte in range(256)]
    pieces += [Piece(text.encode(), -float(at)) for at, text in enumerate(texts)]
    model = Pieces("bpe", tuple(pieces), unk_id=0, byte_fallback=True)
    decoder = SentencePiece(
        control=frozenset({"</s>"}), unknown="<unk>", byte_fallback=True, strip_all=True
    )
    special_tokens = {"<unk>": 0, "</s>": 1}
    flags = {text: TokenFlags(control=True) for text in special_tokens}
    return Tokenizer(
        model,
        special_tokens,
        normalizer=(SentencePieceSpaces(),),
        token_flags=flags,
        decoder=(decoder,),
    )
