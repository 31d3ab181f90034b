"""The same two tools, served by each of those that are compared.

`get_weather` asks one question, `update_work_item` two, the second one because of the answer to the first. A module has
functions that give an ASGI application, and serves stdin and stdout when it is run.
"""
