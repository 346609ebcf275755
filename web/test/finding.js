// What tests do in Find.

export async function ask(page, question) {
    await page.fill("#question", question);
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
}

/** Passage numbers and texts in an order, `score` or `book`. */
export async function column(page, order) {
    await page.check(`#order-${order}`, { force: true });
    return page.$$eval("#passages li", (items) =>
        items.map((item) => ({ index: Number(item.dataset.passage), text: item.querySelector(".text").textContent })),
    );
}
