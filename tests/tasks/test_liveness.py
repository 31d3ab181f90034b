"""Which processes have ended without a word."""

from mrtr_tools.tasks.liveness import Watch


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def watching(lapse: float = 5) -> tuple[Watch, Clock]:
    clock = Clock()
    return Watch(lapse, clock), clock


def test_who_does_not_beat_for_a_lapse_has_ended():
    watch, clock = watching()
    for clock.now in range(6):
        silent = watch.silent({"ended": 7, "alive": int(clock.now)})
        assert silent == ({"ended"} if clock.now >= 5 else set())


def test_one_beat_is_a_sign_of_life_whatever_its_number():
    watch, clock = watching()
    for clock.now in (0, 2, 4):
        watch.silent({"other": 7})
    clock.now = 5
    assert watch.silent({"other": 1}) == set()
    clock.now = 9.9
    assert watch.silent({"other": 1}) == set()


def test_who_was_not_watched_all_the_time_is_watched_anew():
    """When a process could not look for a while, the others could not beat either, as like as not."""
    watch, clock = watching()
    watch.silent({"other": 7})
    clock.now = 6
    assert watch.silent({"other": 7}) == set()
    clock.now = 11
    assert watch.silent({"other": 7}) == {"other"}


def test_who_was_forgotten_is_watched_anew():
    watch, clock = watching()
    for clock.now in (0, 2, 4):
        watch.silent({"other": 7})
    watch.forget()
    for clock.now in (5, 7, 9):
        assert watch.silent({"other": 7}) == set()
    clock.now = 10
    assert watch.silent({"other": 7}) == {"other"}
