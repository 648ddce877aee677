"""Prompt mode: a JSON call, or a list of calls, as the reply or in a ```json fence.

    ```json
    {"name": "get_weather", "arguments": {"city": "서울"}}
    ```

For models whose template shows no tools: the format that `rendering` asks for in the system message.
"""

from fcb_toolkit.parsers.bare import Bare, read_bare
from fcb_toolkit.parsers.reading import Format, Reading


def read(reading: Reading) -> None:
    read_bare(reading, 0, Bare(list_too=True, fence=True, beside_text=True))


FORMAT = Format("plain_json", read, "any model, asked in the system message (prompt mode)", bare=True)
