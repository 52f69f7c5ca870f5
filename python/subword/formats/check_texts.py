"""Texts on which tokenizers that are not the same tend to differ.

Written for this project. Each line stands for a kind of fault that converters have had: runs of
whitespace, line ends, spaces that Unicode has besides the usual one, contractions, digits and
letters of many scripts, marks that combine, emoji of several code points, control characters,
long runs, and special tokens spelt in text.
"""

from collections.abc import Iterable
from typing import Final

__all__ = ["ADVERSARIAL_TEXTS", "check_texts"]

ADVERSARIAL_TEXTS: Final = (
    "",
    " ",
    "  ",
    "   a",
    "a   ",
    "a  b   c    d",
    "\t\ta\t b \t",
    "\n\n\nnew\n lines \n\n and \n\t tabs",
    "one\r\ntwo\r\n\r\nthree\rfour\n\rfive",
    "\x0bvertical\x0cfeed\x1cfile\x1funit",
    "next\x85line \x85 \xa0no\xa0break\xa0 \u3000wide\u3000\u3000space",
    "\u2000\u2003\u2009thin\u200a\u202fnarrow\u205f\u1680ogham\u2028line\u2029part",
    "\u200bzero\u200cwidth\u200djoin\u2060word\ufeffmark",
    "Soft\xadhyphen, \u2011 non-breaking, \u2013 en, \u2014 em",
    "I'm you're he's we've they'll I'd don't 'tis o'clock 'S 'LL 'Ve",
    "I\u2019m you\u2019re DON\u2019T it''s '' ' 's' 'dd 'vee",
    "Don'T CAN'T we'Re \u017f'\u017f I'\u017f K\u212a",
    "def f(x):\n    return x  # two\n\n\tif x == 1_000: pass\n",
    "{\"key\": [1, -2.5e-10, null], 'a\\n': `b`}; x<=y&&z!=0 ->::<>",
    "https://example.org/a?b=c&d=%20#frag user@example.org C:\\dir\\file",
    "0 00 007 1234 12345678901234567890 3.14159 1,000,000 1/2 x2y3",
    "\u0661\u0662\u0663\u0664 \u0967\u0968\u0969 \u0be7\u0be8 \uff11\uff12\uff13 \u00bd\u00b2\u2162"
    " \u2460 \u3007\u4e8c",
    "\u4f60\u597d\u4e16\u754c\uff0c\u4e2d\u6587\u3002\u6f22\u5b57 \u65e5\u672c\u8a9e\u306e"
    "\u30c6\u30b9\u30c8 \u30fb \uff76\uff9e \ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "\U00020000\U0002a6d6 rare \u9fff \u3400 ideographs \u3006",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0395\u03bb\u03bb\u03b7"
    "\u03bd\u03b9\u03ba\u03ac\u03c2 \u10d0\u10d1 \u0531\u0562\u0563",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \u0645\u0631\u062d\u0628\u0627"
    " \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u202eoverride\u202c \u200fmark\u200e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 "
    "\u0b95\u0bcd\u0bb7 \u1019\u103c \u0f40\u0f7a",
    "caf\u00e9 cafe\u0301 \u00c5 A\u030a \u212b \ufb01 \ufb03 \u1e9b\u0323 q\u0307\u0323",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324 a\u0300\u0301\u0302\u0303",
    "\u0130stanbul \u0131 \u1e9e \u00df \u01c4 \u01c5 \u03a3\u03c3\u03c2 \ufb00",
    "\U0001f642\U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 "
    "\U0001f1e9\U0001f1ea\U0001f1ef \u2764\ufe0f 1\ufe0f\u20e3 \U0001f3f4\U000e0067\U000e0062",
    "\x00 nul \x00\x00 \x01\x02\x07\x08\x1b[0m \x7f\x80\x9f",
    "\ufffd replaced \ufffe \uffff \U0010ffff \ue000 \U000f0000",
    "!!!???...,,,;;;::: \u00a1\u00bf \u2026 \u201cq\u201d \u00abg\u00bb \u3010x\u3011"
    " \u2581 \u2581a",
    "$\u20ac\u00a3\u00a5 +\u2212\u00d7\u00f7=\u2260 \u2200x\u2208\u211d \u00ae\u2122 ^~`|",
    "camelCase snake_case SCREAMING_CASE kebab-case XMLHttpRequest iPhone",
    "\u0120byte \u010anames \u00c4\u0142 ##piece @@ </w> a@@ b",
    "<0x41> <0x0A> <unk> <s> </s> [UNK] [CLS] [SEP] <|endoftext|> <|im_start|>",
    "a" * 300,
    " " * 300,
    "\n" * 100,
    "ab" * 200 + " " + "\u4e2d" * 100,
    "1" * 200 + "!" * 200,
    "-=" * 60 + "\t" * 60 + "\xa0" * 60,
    "x" + "\u0301" * 80,
    "The quick brown fox jumps over the lazy dog. "
    "\u00bfQu\u00e9 tal?\nZ\u00fcrich, \u0141\u00f3d\u017a. ",
)
"""The texts, the empty one among them."""

# Of vocabularies with thousands of added tokens, the first ones speak for the rest.
_MAX_TOKENS: Final = 200


def check_texts(special_tokens: Iterable[str]) -> list[str]:
    """Give ``ADVERSARIAL_TEXTS``, and texts that spell special tokens.

    Each token stands alone, between words, doubled, and without its last character.

    Args:
        special_tokens: The reserved strings; the first two hundred are taken.

    Examples:
        >>> check_texts(["<end>"])[-1]
        '<end'
    """
    tokens = [token for token, _ in zip(special_tokens, range(_MAX_TOKENS), strict=False)]
    spelt = []
    for token in tokens:
        spelt += [token, f"a{token}b {token} {token}{token}\n{token}", token[:-1]]
    return [*ADVERSARIAL_TEXTS, *spelt]
