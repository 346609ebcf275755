export const en = {
    heading: "Run viewer",
};

export const zh: typeof en = {
    heading: "运行查看器",
};
