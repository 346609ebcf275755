// What the view "runs" asks of the worker.

export interface RunsMessages {}
