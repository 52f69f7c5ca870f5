"""Messages to text, by the Jinja template that a model's makers wrote."""

from collections.abc import Mapping, Sequence
from typing import Any

from subword.errors import ArgumentError
from subword.types import require_extra

__all__ = ["ChatTemplate", "render_chat"]

ChatTemplate = str | Mapping[str, str]
"""A template, or templates by name: ``default``, and ``tool_use`` for messages with tools."""


def render_chat(
    chat_template: ChatTemplate | None,
    messages: Sequence[Mapping[str, Any]],
    *,
    roles: Mapping[str, str],
    tools: Sequence[Mapping[str, Any]] | None = None,
    add_generation_prompt: bool = False,
    variables: Mapping[str, Any] | None = None,
) -> str:
    r"""Give the text of messages.

    The template runs in jinja2's sandbox, with bounds on its steps and on what it writes; see
    ``subword.sandbox``.

    Args:
        chat_template: The template.
        messages: What was said, each a mapping with at least ``role`` and ``content``.
        roles: Special tokens by role; the template knows them as ``bos_token`` and so on.
        tools: Descriptions of functions, as JSON schemas.
        add_generation_prompt: Whether the text ends where the model shall answer.
        variables: What else the template may name.

    Raises:
        ArgumentError: No template.
        ChatTemplateError: The template fails, refuses the messages, or passes a bound.
        MissingExtraError: jinja2 is not installed.

    Examples:
        >>> template = "{% for m in messages %}{{ m.role }} {{ m.content + eos_token }}{% endfor %}"
        >>> render_chat(template, [{"role": "user", "content": "Hi"}], roles={"eos": "</s>"})
        'user Hi</s>'
    """
    require_extra("jinja2", "chat")
    from subword.sandbox import render

    given: dict[str, Any] = {f"{role}_token": token for role, token in roles.items()}
    given |= {
        "messages": messages,
        "tools": tools,
        "documents": None,
        "add_generation_prompt": add_generation_prompt,
        **(variables or {}),
    }
    return render(_chosen(chat_template, tools), given)


def _chosen(chat_template: ChatTemplate | None, tools: object) -> str:
    if isinstance(chat_template, str):
        return chat_template
    if not chat_template:
        raise ArgumentError(
            "this tokenizer has no chat template; load the folder with its tokenizer_config.json "
            "or chat_template.jinja, or pass chat_template="
        )
    name = "tool_use" if tools and "tool_use" in chat_template else "default"
    if name not in chat_template:
        raise ArgumentError(
            f"the chat templates are named {', '.join(chat_template)}; pass one as chat_template="
        )
    return chat_template[name]
