"""Records two short sessions of the program in a terminal, as SVG files that move, in light and dark.

    python3 docs/recordings/record.py target/release/closeread      # needs pyte of PyPI: pip install pyte

A reader who asks for less motion sees the last screen. The text of each is in the page that shows it.
"""

import fcntl
import html
import os
import pathlib
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time

import pyte

HERE = pathlib.Path(__file__).parent
COLUMNS, ROWS = 112, 24
WIDTH, HEIGHT = 8, 17
TYPED = 0.03
LAST = 4.0

FIRST = [
    ("closeread run --method closed-book,dos-rag --budget 1500 --retriever bm25 --items "
     + ",".join(f"en-{n:03}" for n in range(1, 25)) + " --out first", None),
    ("closeread compare first --method closed-book,dos-rag --metric accuracy", None),
]
RESUME = [
    ("closeread run --method read-agent,memory-agent --limit 30 --out again", 1.2),
    ("closeread run --method read-agent,memory-agent --limit 30 --out again", None),
    ("closeread verify again", None),
]


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    for name, title, session in [
        ("first-run", "Two methods read the sample and are compared", FIRST),
        ("resume", "A run is stopped by Ctrl-C, resumes by the same command, and is verified", RESUME),
    ]:
        frames = record(program, session)
        (HERE / f"{name}.svg").write_text(svg(title, frames))
        print(f"{name}.svg: {len(frames)} screens, {sum(seconds for _, seconds in frames):.0f} s")


def record(program, session):
    """The screens of a session, each with the seconds it stands."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    frames, since = [], time.monotonic()

    def keep():
        nonlocal since
        now = time.monotonic()
        if frames:
            frames[-1][1] += now - since
        since = now
        if not frames or frames[-1][0] != screen.display:
            frames.append([list(screen.display), 0.0])

    environment = {
        "PATH": f"{program.parent}:/usr/bin:/bin", "TERM": "xterm-256color", "NO_COLOR": "1",
        "XDG_CACHE_HOME": tempfile.mkdtemp(), "HOME": tempfile.mkdtemp(),
    }
    folder = tempfile.mkdtemp()
    for command, stop_after in session:
        stream.feed(b"$ ")
        for letter in command:
            stream.feed(letter.encode())
            time.sleep(TYPED / 4)
            if letter in " ,":
                keep()
        stream.feed(b"\r\n")
        keep()
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe("closeread", command.split(), environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        began = time.monotonic()
        while True:
            if stop_after and time.monotonic() - began > stop_after:
                os.kill(pid, signal.SIGINT)
                stop_after = None
            if not select.select([terminal], [], [], 0.05)[0]:
                continue
            try:
                read = os.read(terminal, 65536)
            except OSError:
                break
            if not read:
                break
            stream.feed(read)
            keep()
        os.waitpid(pid, 0)
        os.close(terminal)
        keep()
        time.sleep(0.5)
        keep()
    frames[-1][1] = LAST
    return thinned(frames)


def thinned(frames, least=0.4, most=2.0):
    """Screens that stand for a moment alone are left out; the others stand for as long as somebody needs to see that they do."""
    kept = []
    for lines, seconds in frames:
        if kept and kept[-1][1] < least:
            kept[-1] = (lines, kept[-1][1] + seconds)
        else:
            kept.append((lines, seconds))
    return [(lines, min(seconds, most) if n + 1 < len(kept) else LAST) for n, (lines, seconds) in enumerate(kept)]


def svg(title, frames):
    total = sum(seconds for _, seconds in frames)
    lines, screens, keyframes, at = {}, [], [], 0.0
    for n, (screen, seconds) in enumerate(frames):
        uses = []
        for row, text in enumerate(screen):
            text = text.rstrip()
            if text:
                number = lines.setdefault(text, len(lines))
                uses.append(f'<use href="#l{number}" y="{row * HEIGHT}"/>')
        screens.append(f'<g class="s s{n}">{"".join(uses)}</g>')
        begin, end = 100 * at / total, 100 * (at + seconds) / total
        hidden = "" if n == 0 else f"0%,{begin:.3f}%{{visibility:hidden}}"
        after = "" if n + 1 == len(frames) else f"{end:.3f}%,100%{{visibility:hidden}}"
        keyframes.append(f"@keyframes k{n}{{{hidden}{begin:.3f}%,{end:.3f}%{{visibility:visible}}{after}}}.s{n}{{animation-name:k{n}}}")
        at += seconds
    definitions = "".join(
        f'<text id="l{number}" x="0" y="{HEIGHT - 4}" xml:space="preserve">{html.escape(text)}</text>' for text, number in lines.items()
    )
    width, height = COLUMNS * WIDTH + 24, ROWS * HEIGHT + 24
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{html.escape(title)}">
<title>{html.escape(title)}</title>
<style>
rect{{fill:#fcfaf6;stroke:#d8d2c4}}text{{font:13px/1 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#23201a;white-space:pre}}
@media(prefers-color-scheme:dark){{rect{{fill:#1b1a17;stroke:#3a372f}}text{{fill:#e9e4d8}}}}
.s{{visibility:hidden;animation-duration:{total:.2f}s;animation-timing-function:step-end;animation-iteration-count:infinite}}
@media(prefers-reduced-motion:reduce){{.s{{animation:none}}.s{len(frames) - 1}{{visibility:visible}}}}
{chr(10).join(keyframes)}
</style>
<defs>{definitions}</defs>
<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>
<g transform="translate(12 12)">{chr(10).join(screens)}</g>
</svg>
"""


main()
