"""Tokenizers changed for a new language, domain or size: what moves is known and proved."""
