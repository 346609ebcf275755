// What the view "lab" asks of the worker.

export interface LabMessages {}
