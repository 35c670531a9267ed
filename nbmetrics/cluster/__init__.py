"""`evaluate` on a cluster of Dask: summaries next to the data, pooled in a tree; entered only when asked for.

life_signs    how a task that reads batches says that it lives
task_runner   the cluster as this room uses it: tasks that name their clients, errors in words, a timeout everywhere
connection    the client of Dask that was given, or a small cluster on this machine
sources       what a client may be (rows, a future, a function …), and its parts where it is large
first_look    a first look at rows that are on the cluster, and the federation that stands for them
tree_reduce   what a task does: summarize some clients, score them, pool them; pools of pools up to one
split         a large client as several tasks
client_tasks  where every way of scoring begins, and how its end becomes a result
pairs         metrics whose pool follows from numbers of every two clients: blocks of pairs as tasks
evaluate      the flow from clients to `Scores`
"""

from .evaluate import evaluate

__all__ = ["evaluate"]
