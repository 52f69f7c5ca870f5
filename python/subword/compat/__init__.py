"""Stand-ins for other libraries' classes: one import changes, the rest of a program stays.

    from subword.compat import tiktoken          # get_encoding, encoding_for_model, Encoding
    from subword.compat.hf import Tokenizer      # HF tokenizers' Tokenizer, for use

``from_tiktoken``, ``from_hf`` and ``to_hf`` move live objects across. They give the same ids and
raise the same kinds of exceptions; what they do not have is refused by name.
"""
