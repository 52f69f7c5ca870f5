"""Which of OpenAI's models uses which encoding.

Source: openai/tiktoken 0.14.0, tiktoken/model.py.
"""

from typing import Final

__all__ = ["encoding_name_for_model"]

_MODELS: Final = {
    **dict.fromkeys(("o1", "o3", "o4-mini", "gpt-5", "gpt-4.1", "gpt-4o"), "o200k_base"),
    **dict.fromkeys(("gpt-4", "gpt-3.5-turbo", "gpt-3.5", "gpt-35-turbo"), "cl100k_base"),
    **dict.fromkeys(("davinci-002", "babbage-002", "text-embedding-ada-002"), "cl100k_base"),
    **dict.fromkeys(("text-embedding-3-small", "text-embedding-3-large"), "cl100k_base"),
    **dict.fromkeys(("text-davinci-003", "text-davinci-002"), "p50k_base"),
    **dict.fromkeys(("code-davinci-002", "code-davinci-001", "davinci-codex"), "p50k_base"),
    **dict.fromkeys(("code-cushman-002", "code-cushman-001", "cushman-codex"), "p50k_base"),
    **dict.fromkeys(("text-davinci-edit-001", "code-davinci-edit-001"), "p50k_edit"),
    **dict.fromkeys(("davinci", "curie", "babbage", "ada", "text-davinci-001"), "r50k_base"),
    **dict.fromkeys(("text-curie-001", "text-babbage-001", "text-ada-001"), "r50k_base"),
    **{
        f"text-similarity-{name}-001": "r50k_base"
        for name in ("davinci", "curie", "babbage", "ada")
    },
    **{
        f"text-search-{name}-doc-001": "r50k_base"
        for name in ("davinci", "curie", "babbage", "ada")
    },
    **{f"code-search-{name}-code-001": "r50k_base" for name in ("babbage", "ada")},
    **dict.fromkeys(("gpt2", "gpt-2"), "gpt2"),
}
_PREFIXES: Final = {
    **dict.fromkeys(("o1-", "o3-", "o4-mini-", "gpt-5", "gpt-4.5-", "gpt-4.1-"), "o200k_base"),
    **dict.fromkeys(("chatgpt-4o-", "gpt-4o-"), "o200k_base"),
    **dict.fromkeys(("gpt-4-", "gpt-3.5-turbo-", "gpt-35-turbo-"), "cl100k_base"),
    "gpt-oss-": "o200k_harmony",
    "ft:gpt-4o": "o200k_base",
    "ft:gpt-4": "cl100k_base",
    **dict.fromkeys(("ft:gpt-3.5-turbo", "ft:davinci-002", "ft:babbage-002"), "cl100k_base"),
}


def encoding_name_for_model(model_name: str) -> str:
    """Give the name of a model's encoding.

    Raises:
        KeyError: An unknown model.

    Examples:
        >>> encoding_name_for_model("gpt-4o-2024-05-13")
        'o200k_base'
    """
    if model_name in _MODELS:
        return _MODELS[model_name]
    for prefix, name in _PREFIXES.items():
        if model_name.startswith(prefix):
            return name
    raise KeyError(f"no encoding is known for the model {model_name!r:.60}; call get_encoding")
