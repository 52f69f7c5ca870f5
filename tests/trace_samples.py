"""Words, vocabularies and tokenizers whose steps are known."""

HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


SMALL_VOCAB = dict(
    enumerate([b" ", b"a", b"c", b"e", b"h", b"t", b"th", b" c", b" a", b"the", b" at"])
)


SMALL_MERGES = [(b"t", b"h"), (b" ", b"c"), (b" ", b"a"), (b"th", b"e"), (b" a", b"t")]
