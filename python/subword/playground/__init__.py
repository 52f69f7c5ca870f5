"""A page that shows what tokenizers do: ``subword playground``.

``catalog`` holds the tokenizers named at the start and what is known of their tokens, ``answers``
and ``lessons`` turn requests into plain data, ``bodies`` reads and limits what is sent, ``app``
is the web application, and ``server`` finds a port and runs it. ``static`` is the page itself.
"""
