export const en = {
    heading: "Retrieval lab",
};

export const zh: typeof en = {
    heading: "检索实验室",
};
