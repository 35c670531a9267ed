"""What tests have to know of the inside of a lab: the only place that says where labs keep it."""


def send(lab, message):
    """As a page sends it, over the widget's comm: {"kind": "ask" or "attach" or …, …}."""
    data = {"method": "custom", "content": message}
    lab.comm.handle_msg({"content": {"data": data}, "metadata": {}, "buffers": []})


def answer(lab, scene):
    """What the lab's thread does with a scene, here and now."""
    lab._answer(scene)


def scene_of(lab):
    """The lab's scene as its own type; `lab.scene` is its JSON."""
    return lab._scene


def numbers_of(kind, scene):
    """What a lab of that class computes of a scene, where it needs nothing but the scene."""
    return kind._computed(None, scene)


def picture_of(lab):
    return lab._picture()


def words_of(lab):
    """What says the picture to who cannot see it."""
    return lab._described()


def is_idle(lab):
    """Whether no scene waits for the thread that answers; one may be under way."""
    return lab._worker._newest is None


def module_of(kind):
    """The page of that class of labs: one JavaScript module."""
    return kind._esm


def state_kind(lab):
    """The class of the lab's scenes."""
    return lab._state


def accept(lab, scene):
    """Raise where this lab lacks what a scene from elsewhere needs."""
    lab._accept(scene)


def history_of(monitor):
    """All that a Monitor knows of its run, with the arrays behind it."""
    return monitor._live_run.history


def study_of(dashboard):
    """All that a Dashboard knows of its clients as they are regrouped now."""
    return dashboard._comparison


def mixture_of(dashboard):
    """What looks for its best mixture; `now(scene)` does so here."""
    return dashboard._mixture
