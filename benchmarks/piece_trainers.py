"""How each library trains WordPiece and Unigram: imported only in the library's own process.

Vocabularies of different trainers differ by design, so they are described, not expected to be
equal: how many tokens of the reference's vocabulary are in it, and for Unigram how likely it
makes a text that no trainer saw.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.trainers import SEPARATOR, TrainingJob, read_documents

BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
UNKNOWN = "<unk>"
UNKNOWN_PENALTY = 10.0  # below the least score: sentencepiece 0.2.3, unigram_model.cc
STRETCH = 20  # characters that are scored at once: no probability falls below a float's


@dataclass(frozen=True, slots=True)
class PieceTraining:
    """A prepared training, inputs that must be in memory already there.

    Attributes:
        call: The measured call.
        tokens: Its result as tokens with their scores (0 in WordPiece), spaces as spaces and
            special tokens left out.
    """

    call: Callable[[], Any]
    tokens: Callable[[Any], Mapping[str, float]]


def subword_wordpiece(score: str, ties: str) -> Callable[[TrainingJob], PieceTraining]:
    def prepare(job: TrainingJob) -> PieceTraining:
        import subword

        def call() -> Any:
            return subword.train_wordpiece(
                job.documents,
                job.vocab_size,
                BERT_TOKENS,
                score=score,
                ties=ties,
                documents=SEPARATOR,
                n_threads=job.n_threads,
            )

        return PieceTraining(
            call, lambda tokenizer: unscored(t.decode() for t in tokenizer.vocab.values())
        )

    return prepare


def unscored(tokens: Any) -> dict[str, float]:
    return {token: 0.0 for token in tokens if token not in BERT_TOKENS}


def tokenizers_wordpiece(job: TrainingJob) -> PieceTraining:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordPieceTrainer(
        vocab_size=job.vocab_size, special_tokens=BERT_TOKENS, show_progress=False
    )
    documents = read_documents(job)

    def call() -> Any:
        tokenizer.train_from_iterator(documents, trainer)
        return tokenizer

    return PieceTraining(call, lambda result: unscored(result.get_vocab()))


def subword_unigram(job: TrainingJob) -> PieceTraining:
    import subword

    def call() -> Any:
        return subword.train_unigram(
            job.documents,
            job.vocab_size,
            [],
            byte_fallback=False,
            documents=SEPARATOR,
            n_threads=job.n_threads,
        )

    def tokens(tokenizer: Any) -> dict[str, float]:
        pieces = tokenizer.model.pieces
        return {piece.text.decode(): piece.score for piece in pieces if piece.kind == "normal"}

    return PieceTraining(call, tokens)


def tokenizers_unigram(job: TrainingJob) -> PieceTraining:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=job.vocab_size,
        special_tokens=[UNKNOWN],
        unk_token=UNKNOWN,
        show_progress=False,
    )
    documents = read_documents(job)

    def call() -> Any:
        tokenizer.train_from_iterator(documents, trainer)
        return tokenizer

    return PieceTraining(call, lambda result: spaced(json.loads(result.to_str())["model"]["vocab"]))


def sentencepiece_unigram(job: TrainingJob) -> PieceTraining:
    import io

    import sentencepiece

    def call() -> bytes:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            input=job.text,
            model_writer=model,
            model_type="unigram",
            vocab_size=job.vocab_size,
            normalization_rule_name="identity",
            bos_id=-1,
            eos_id=-1,
            max_sentence_length=1 << 26,
            num_threads=job.n_threads,
            minloglevel=2,
        )
        return model.getvalue()

    def tokens(model: bytes) -> dict[str, float]:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        ids = range(processor.get_piece_size())
        return spaced((processor.id_to_piece(i), processor.get_score(i)) for i in ids)

    return PieceTraining(call, tokens)


def spaced(pieces: Any) -> dict[str, float]:
    return {piece.replace("▁", " "): score for piece, score in pieces if piece != UNKNOWN}


def log_likelihood(pieces: Mapping[str, float], text: str) -> float:
    """Give the mean natural logarithm of a text's probability per character.

    The probabilities of the pieces are made to sum to 1, and those of all segmentations are
    added. The text is words, each with a space before it, in stretches of ``STRETCH``
    characters; a character without a piece costs ``UNKNOWN_PENALTY`` more than the least piece.

    Examples:
        >>> round(math.exp(log_likelihood({" a": math.log(0.25), "b": math.log(0.75)}, "a a")), 3)
        0.5
    """
    log_total = math.log(sum(map(math.exp, pieces.values())))
    probabilities = {piece: math.exp(score - log_total) for piece, score in pieces.items()}
    unknown = min(probabilities.values()) * math.exp(-UNKNOWN_PENALTY)
    longest = max(map(len, pieces))
    total, n_chars = 0.0, 0
    for stretch, count in Counter(stretches(text)).items():
        sums = [1.0, *[0.0] * len(stretch)]
        for end in range(1, len(stretch) + 1):
            for start in range(max(0, end - longest), end):
                sums[end] += sums[start] * probabilities.get(stretch[start:end], 0.0)
            if stretch[end - 1] not in probabilities:
                sums[end] += sums[end - 1] * unknown
        total += count * math.log(sums[-1])
        n_chars += count * len(stretch)
    return total / n_chars


def stretches(text: str) -> Iterator[str]:
    """Cut a text at whitespace, and words that are longer than ``STRETCH``."""
    for word in text.split():
        spaced_word = f" {word}"
        places = [*range(0, len(spaced_word), STRETCH), len(spaced_word)]
        yield from (spaced_word[start:end] for start, end in pairwise(places))
