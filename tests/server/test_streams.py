"""File descriptors in an event loop: pipes, which it watches, and files, which have a thread."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mrtr_tools.server.streams import FULL, Input, Output
from tests.server.piped import SECONDS, readable

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


class Taken:
    """What an `Input` gives."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.came = asyncio.Event()

    def __call__(self, chunk: bytes) -> None:
        self.chunks.append(chunk)
        self.came.set()

    async def next(self) -> bytes:
        async with asyncio.timeout(SECONDS):
            await self.came.wait()
        self.came.clear()
        return self.chunks[-1]


class Pipe:
    """Both ends of a pipe."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        self._open = {self.reading, self.writing}

    def close(self, *ends: int) -> None:
        for end in self._open & set(ends):
            os.close(end)
        self._open -= set(ends)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close(pipe.reading, pipe.writing)


async def test_nothing_is_read_before_it_is_wanted_nor_while_it_is_not(pipe):
    taken = Taken()
    reading, writing = pipe.reading, pipe.writing
    stream = Input(reading, taken)
    os.write(writing, b"one")
    await asyncio.sleep(0)
    assert taken.chunks == []

    stream.resume()
    assert await taken.next() == b"one"
    stream.pause()
    os.write(writing, b"two")
    await readable(reading)
    assert taken.chunks == [b"one"]
    stream.resume()
    assert await taken.next() == b"two"
    stream.close()


async def test_the_end_is_told_once(pipe):
    taken = Taken()
    reading, writing = pipe.reading, pipe.writing
    stream = Input(reading, taken)
    stream.resume()
    pipe.close(writing)
    assert await taken.next() == b""
    stream.resume()
    await asyncio.sleep(0)
    assert taken.chunks == [b""]


async def test_a_file_is_read_to_its_end(tmp_path: Path):
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100_000)
    taken, number = Taken(), os.open(file, os.O_RDONLY)
    stream = Input(number, taken)
    stream.resume()
    while await taken.next():
        pass
    os.close(number)

    assert b"".join(taken.chunks) == b"x" * 100_000


async def test_a_descriptor_that_cannot_be_read_has_ended(tmp_path: Path):
    taken, number = Taken(), os.open(tmp_path, os.O_RDONLY)  # a folder
    stream = Input(number, taken)
    stream.resume()
    assert await taken.next() == b""
    os.close(number)


class Told:
    """What an `Output` says."""

    def __init__(self) -> None:
        self.wrote, self.broke = asyncio.Event(), asyncio.Event()

    def output(self, number: int) -> Output:
        return Output(number, self.wrote.set, self.broke.set)


async def test_what_nobody_reads_waits_and_room_is_made_by_reading(pipe):
    reading, writing = pipe.reading, pipe.writing
    told = Told()
    output = told.output(writing)
    output.write(b"x" * 200_000)
    assert output.is_full
    waiting = asyncio.create_task(output.room())
    await asyncio.sleep(0)
    assert not waiting.done()

    read = 0
    while read < 200_000:
        await readable(reading)
        read += len(os.read(reading, 65_536))
    await waiting
    assert (output.is_full, output.is_empty) == (False, True)
    output.close()


async def test_what_is_about_to_come_goes_out_together(pipe):
    reading, writing = pipe.reading, pipe.writing
    output = Told().output(writing)
    output.write(b"one ", more=True)
    output.write(b"two ")
    assert not output.is_empty
    await readable(reading)

    assert os.read(reading, 100) == b"one two "
    output.close()


async def test_what_is_closed_writes_nothing_and_is_as_it_was_before(pipe):
    reading, writing = pipe.reading, pipe.writing
    output = Told().output(writing)
    output.write(b"late", more=True)
    output.close()
    output.write(b"later")
    await asyncio.sleep(0)
    os.set_blocking(reading, False)

    with pytest.raises(BlockingIOError):
        os.read(reading, 100)
    assert os.get_blocking(writing)


async def test_it_is_told_once_when_nobody_reads_any_more(pipe):
    reading, writing = pipe.reading, pipe.writing
    told = Told()
    output = told.output(writing)
    pipe.close(reading)
    output.write(b"x" * (FULL + 1))
    assert told.broke.is_set()
    assert (output.is_full, output.is_empty) == (False, True)
    told.broke.clear()
    output.write(b"more")
    await output.room()
    assert not told.broke.is_set()
    output.close()


async def test_a_file_is_written_by_a_thread(tmp_path: Path):
    file = tmp_path / "file"
    told, number = Told(), os.open(file, os.O_WRONLY | os.O_CREAT)
    output = told.output(number)
    for _ in range(100):
        output.write(b"x" * 3000)
    while not output.is_empty:
        await told.wrote.wait()
        told.wrote.clear()
    output.close()
    os.close(number)

    assert file.read_bytes() == b"x" * 300_000


async def test_a_file_that_cannot_be_written_is_broken(tmp_path: Path):
    file = tmp_path / "file"
    file.touch()
    told, number = Told(), os.open(file, os.O_RDONLY)
    output = told.output(number)
    output.write(b"x")
    async with asyncio.timeout(SECONDS):
        await told.broke.wait()
    output.close()
    os.close(number)
