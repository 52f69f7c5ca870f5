"""Write a SentencePiece BPE model as the ``tokenizer.json`` of Llama's kind.

Run by the peers' Python. Libraries that read no ``.model`` take part with it; their ids are
compared with sentencepiece's of the original. A piece's merges are all its cuts in two pieces,
in the order of the pieces' scores.

Source: huggingface/transformers 4, ``convert_slow_tokenizer.py`` (``LlamaConverter``).
"""

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["llama_json", "main", "merges_of_pieces"]


def merges_of_pieces(scores: dict[str, float]) -> list[tuple[str, str]]:
    """Give the merges of pieces, which are in the order of their ids.

    Examples:
        >>> merges_of_pieces({"a": -3.0, "b": -4.0, "ab": -2.0, "aab": -1.0, "aa": -5.0})
        [('a', 'ab'), ('aa', 'b'), ('a', 'b'), ('a', 'a')]
    """
    ids = {piece: at for at, piece in enumerate(scores)}
    merges = []
    for piece, score in scores.items():
        cuts = [(piece[:at], piece[at:]) for at in range(1, len(piece))]
        known = [cut for cut in cuts if cut[0] in ids and cut[1] in ids]
        known.sort(key=lambda cut: (ids[cut[0]], ids[cut[1]]))
        merges += [(-score, ids[piece], cut) for cut in known]
    merges.sort(key=lambda merge: merge[:2])
    return [cut for *_, cut in merges]


def llama_json(processor: Any) -> dict[str, object]:
    """Give the content of the file for a loaded ``SentencePieceProcessor``."""
    ids = range(processor.get_piece_size())
    vocab = {processor.id_to_piece(i): i for i in ids}
    scores = {
        processor.id_to_piece(i): processor.get_score(i)
        for i in ids
        if not (processor.is_control(i) or processor.is_unknown(i) or processor.is_byte(i))
    }
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": i, "content": processor.id_to_piece(i), **flags, "special": True}
        for i in ids
        if processor.is_control(i) or processor.is_unknown(i)
    ]
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Prepend", "prepend": "▁"}, space],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                back,
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": processor.id_to_piece(processor.unk_id()),
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [f"{left} {right}" for left, right in merges_of_pieces(scores)],
        },
    }


def main() -> None:
    """Convert: arguments are the model and the file to write."""
    import sentencepiece

    model, target = sys.argv[1:]
    content = llama_json(sentencepiece.SentencePieceProcessor(model_file=model))
    Path(target).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
