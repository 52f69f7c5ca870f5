"""Tokenizers by name: files of the Hugging Face hub's and tiktoken's caches, or fetched.

The only room that uses the network to load, and only for a name that says so, ``hf:org/name`` or
``tiktoken:o200k_base``. What a cache holds is used without the network.

Source: openai/tiktoken 0.14.0, tiktoken/load.py (cache folder and file names) and
tiktoken_ext/openai_public.py (addresses); huggingface_hub 1.x, ``hf_hub_download``.
"""

import hashlib
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

from subword.atomic_write import whole_file
from subword.errors import FormatError, MissingExtraError, SourceError, SourceNotFoundError

__all__ = ["hugging_face_folder", "tiktoken_file"]

TIKTOKEN_URL: Final = "https://openaipublic.blob.core.windows.net/encodings/"
# What a rank file, the largest of them 4 MB, may at most be.
_MAX_BYTES: Final = 1 << 26
_SECONDS: Final = 30

# In this order: the first of a folder is what is loaded.
_TOKENIZERS: Final = (
    ("tokenizer.json",),
    ("tekken.json",),
    ("tokenizer.model",),
    ("spiece.model",),
    ("vocab.json", "merges.txt"),
    ("vocab.txt",),
)
_BESIDE: Final = ("tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


def tiktoken_file(name: str, sha256: str, *, base_url: str = TIKTOKEN_URL) -> Path:
    """Give the rank file of a public encoding, in tiktoken's own cache.

    The cache is ``TIKTOKEN_CACHE_DIR``, else ``DATA_GYM_CACHE_DIR``, else a folder of the system's
    for temporary files. A file there that is another's is fetched anew.

    Args:
        name: Of the file, such as ``o200k_base``.
        sha256: What the file must have, in hexadecimal.
        base_url: Where the file lies.

    Raises:
        SourceError: The file is not in the cache and cannot be fetched.
        FormatError: What was fetched is another file.
    """
    url = f"{base_url}{name}.tiktoken"
    folder = _tiktoken_cache()
    # tiktoken names the file by the address it is published at, whatever the mirror
    path = folder / hashlib.sha1(f"{TIKTOKEN_URL}{name}.tiktoken".encode()).hexdigest()  # noqa: S324
    if path.is_file() and _sha256(path.read_bytes()) == sha256:
        return path
    data = _fetched(url, folder)
    if _sha256(data) != sha256:
        raise FormatError(
            f"{url}: SHA-256 {_sha256(data)}, expected {sha256}; the download is damaged or the "
            "file was replaced"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(data)
    return path


def hugging_face_folder(name: str, *, endpoint: str | None = None) -> Path:
    """Give a folder of the Hugging Face cache with a repository's tokenizer, and what is beside it.

    Args:
        name: ``org/name``, or ``org/name@revision`` for a branch, tag or commit.
        endpoint: Another server than the hub's.

    Raises:
        MissingExtraError: huggingface_hub is not installed.
        SourceNotFoundError: The repository has no tokenizer file that is known.
        SourceError: It is not in the cache and cannot be fetched.
    """
    try:
        import huggingface_hub as hub
        from huggingface_hub import errors
    except ImportError as error:
        raise MissingExtraError(
            f"loading 'hf:{name}' needs huggingface_hub: pip install 'subword[hub]'"
        ) from error
    repository, _, revision = name.partition("@")
    not_cached: list[Exception] = []

    def fetched(file: str) -> Path | None:
        try:
            path = hub.hf_hub_download(
                repository, file, revision=revision or None, endpoint=endpoint
            )
        except errors.LocalEntryNotFoundError as error:
            not_cached.append(error)
            return None
        except errors.EntryNotFoundError:
            return None
        except (errors.HfHubHTTPError, errors.HFValidationError, OSError) as error:
            raise SourceError(f"hf:{name}: {error}") from error
        return Path(path)

    for files in _TOKENIZERS:
        paths = [path for path in map(fetched, files) if path is not None]
        if len(paths) == len(files):
            for file in _BESIDE:
                fetched(file)
            return paths[0].parent
    if not_cached:
        raise SourceError(f"hf:{name}: not in the cache, and {not_cached[0]}") from not_cached[0]
    listed = ", ".join(" with ".join(files) for files in _TOKENIZERS)
    raise SourceNotFoundError(f"hf:{name}: the repository has none of {listed}")


def _tiktoken_cache() -> Path:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if os.environ.get(variable):
            return Path(os.environ[variable])
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _fetched(url: str, folder: Path) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310
            data: bytes = answer.read(_MAX_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise SourceError(
            f"{url}: not in the cache ({folder}) and cannot be fetched: {error}; put the file "
            "there, or load it by its path"
        ) from error
    if len(data) > _MAX_BYTES:
        raise FormatError(f"{url}: more than {_MAX_BYTES} bytes; no rank file is so large")
    return data


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
