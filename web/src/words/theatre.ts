export const en = {
    heading: "Method theatre",
};

export const zh: typeof en = {
    heading: "方法剧场",
};
