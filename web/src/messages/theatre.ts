// What the view "theatre" asks of the worker.

export interface TheatreMessages {}
