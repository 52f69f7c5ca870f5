"""Chat templates: what they may do, and what they may not."""

import json

import pytest

import subword
from subword.chat import render_chat
from subword.errors import ArgumentError, ChatTemplateError, FormatError, SpecialTokenError
from subword.formats import tokenizer_json

MESSAGES = [{"role": "user", "content": "a <b> & é"}, {"role": "assistant", "content": "c"}]
ROLES = {"bos": "<s>", "eos": "</s>"}
CHATML = (
    "{% for message in messages %}\n"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}\n"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def test_a_template_has_messages_roles_and_what_transformers_gives_it():
    assert render_chat(CHATML, MESSAGES, roles={}, add_generation_prompt=True) == (
        "<|im_start|>user\na <b> & é<|im_end|>\n<|im_start|>assistant\nc<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    template = "{{ bos_token }}{{ tools | tojson }}{{ x }}{% generation %}g{% endgeneration %}"
    text = render_chat(template, [], roles=ROLES, tools=[{"é": 1}], variables={"x": 5})
    assert text == '<s>[{"é": 1}]5g'
    loop = "{% for m in messages %}{% if loop.last %}{% break %}{% endif %}{{ loop.index }}{% endfor %}"
    assert render_chat(loop, MESSAGES, roles={}) == "1"
    assert len(render_chat("{{ strftime_now('%Y') }}", [], roles={})) == 4


@pytest.mark.parametrize(
    "template",
    [
        "{{ raise_exception('roles must alternate') }}",
        "{% for %}",
        "{{ ''.__class__.__mro__ }}",
        "{% include 'x' %}",
        "{{ messages.append(1) }}",
        "{{ a.b.c }}",
        "{{ messages[0].content + 1 }}",
        "{% if 1 %}" * 5000,
        "x" * (1 << 21),
        "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
        "{% macro a(n) %}{{ a(n-1) if n }}{{ a(n-1) if n }}{% endmacro %}{{ a(60) }}",
        "{% for a in [1] recursive %}{{ loop([1, 1]) }}{% endfor %}",
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% set n = namespace(s='x') %}{% for i in range(70) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
        "{% set n = namespace(s='x') %}{% for i in range(70) %}{% set n.s = n.s + n.s %}{% endfor %}",
        "{{ 'x' * 10000000000 }}",
        "{{ ['x'] * 10000000000 }}",
        "{{ 2 ** 100000 }}",
        "{{ 'x' | center(10000000000) }}",
        "{{ 'x'.ljust(10000000000) }}",
        "{{ '%10000000000d' | format(1) }}",
        "{{ '{:>10000000000}'.format(1) }}",
        "{{ '%10000000000d' % 1 }}",
        "{% set a = 'x' * 10000000 %}{{ a.replace('x', a) }}",
        "{{ (['x' * 1000000] * 100000) | join }}",
        "{{ ''.join(['x' * 1000000] * 100000) }}",
        "{% set a = 'x' * 1000000 %}{% for i in range(100000) %}{{ a }}{% endfor %}",
        "{% for i in range(900000) %}" + "y" * 100000 + "{% endfor %}",
        "{{ range(10 ** 12) | list }}",
        "{{ lipsum(n=100000) }}",
    ],
)
def test_what_fails_or_has_no_end_is_refused(template):
    with pytest.raises(ChatTemplateError):
        render_chat(template, MESSAGES, roles={})


def test_templates_by_name():
    templates = {"default": "d", "tool_use": "t"}
    assert render_chat(templates, [], roles={}) == "d"
    assert render_chat(templates, [], roles={}, tools=[{}]) == "t"
    with pytest.raises(ArgumentError, match="chat_template"):
        render_chat({"other": "o"}, [], roles={})
    with pytest.raises(ArgumentError, match="no chat template"):
        subword.ByteTokenizer().apply_chat_template(MESSAGES)


def test_ids_of_messages_have_special_tokens():
    tok = subword.ByteTokenizer(["<s>"]).replace(
        roles={"bos": "<s>"}, chat_template="{{ bos_token }}{{ messages[0].content }}"
    )
    assert tok.apply_chat_template([{"role": "user", "content": "ab"}]) == [256, 97, 98]
    assert tok.apply_chat_template([{"content": "ab"}], tokenize=False) == "<s>ab"


def test_roles_are_checked():
    with pytest.raises(SpecialTokenError, match="no role"):
        subword.ByteTokenizer().replace(roles={"start": "a"})
    with pytest.raises(SpecialTokenError, match="not in the vocabulary"):
        subword.ByteTokenizer().replace(roles={"bos": "<s>"})


@pytest.fixture
def folder(tmp_path):
    tok = subword.ByteTokenizer(["<s>", "</s>"])
    tokenizer_json.write(tok, tmp_path / "tokenizer.json")
    return tmp_path


def test_a_folder_has_roles_and_templates(folder):
    config = {"bos_token": {"content": "<s>", "lstrip": False}, "eos_token": None, "x": 1}
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": "c"}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"eos_token": "</s>"}))
    tok = subword.load(folder)
    assert tok.roles == {"bos": "<s>", "eos": "</s>"}
    assert tok.chat_template == "c"
    (folder / "chat_template.jinja").write_text("j")
    assert subword.load(folder).chat_template == "j"
    assert subword.load(folder / "tokenizer.json").chat_template is None


def test_named_templates_of_a_folder(folder):
    named = [{"name": "default", "template": "d"}, {"name": "rag", "template": "r"}]
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    assert subword.load(folder).chat_template == {"default": "d", "rag": "r"}


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"pad_token": "<pad>"}, "pad_token is '<pad>'"),
        ({"pad_token": 1}, "pad_token"),
        ({"chat_template": 1}, "chat_template"),
        ({"chat_template": [{"name": "a"}]}, r"chat_template\[0\].template"),
        ([], "an object"),
    ],
)
def test_damaged_files_beside_it_are_refused(config, named, folder):
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match=named):
        subword.load(folder)


def test_roles_and_a_template_survive_in_the_file(folder):
    tok = subword.load(folder).replace(roles={"bos": "<s>"}, chat_template="t")
    again = tokenizer_json.from_json(tokenizer_json.to_json(tok))
    assert (again.roles, again.chat_template, again) == (tok.roles, tok.chat_template, tok)


def test_a_batch_is_padded_with_the_padding_token():
    tok = subword.ByteTokenizer(["<pad>"])
    assert tok.encode_batch(["a", "bcd"]).pad().ids.tolist() == [[97, 0, 0], [98, 99, 100]]
    batch = tok.replace(roles={"pad": "<pad>"}).encode_batch(["a", "bcd"])
    assert batch.pad().ids.tolist() == [[97, 256, 256], [98, 99, 100]]
    padded = batch.pad(2, side="left", truncate=True, multiple_of=4)
    assert padded.ids.tolist() == [[256, 256, 256, 97], [256, 256, 98, 99]]
    assert padded.mask.tolist() == [[False, False, False, True], [False, False, True, True]]
    with pytest.raises(ArgumentError, match="multiple_of"):
        batch.pad(multiple_of=0)
