import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { difference } from "./difference.mjs";

/** A channel may be this far off, and this share of a picture may differ: what remains when nothing was changed. */
const TOLERANCE = 24;
const SHARE = 0.00005;

const dataUrl = (file) => `data:image/png;base64,${readFileSync(file).toString("base64")}`;

/** Compares the pictures of two folders; returns those that differ, the most changed first, each with a picture of what does. */
export async function compare(browser, before, now, wanted) {
  const page = await browser.newPage();
  await page.addScriptTag({ content: `globalThis.difference = ${difference.toString()}` });
  const found = [];
  for (const { id } of wanted) {
    const [old, fresh] = [join(before, `${id}.png`), join(now, `${id}.png`)];
    if (!existsSync(fresh)) continue;
    if (!existsSync(old)) {
      found.push({ id, share: 1, note: "new" });
      continue;
    }
    const result = await page.evaluate(
      async ([first, second, tolerance]) => {
        const pixels = async (url) => {
          const image = new Image();
          image.src = url;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height);
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        };
        const [a, b] = [await pixels(first), await pixels(second)];
        if (a.width !== b.width || a.height !== b.height) return { share: 1, picture: null };
        const { changed, shown } = globalThis.difference(a.data, b.data, a.width, a.height, tolerance);
        const canvas = document.createElement("canvas");
        canvas.width = a.width;
        canvas.height = a.height;
        canvas.getContext("2d").putImageData(new ImageData(shown, a.width, a.height), 0, 0);
        return { share: changed / (a.width * a.height), picture: canvas.toDataURL("image/png") };
      },
      [dataUrl(old), dataUrl(fresh), TOLERANCE],
    );
    if (result.share <= SHARE) continue;
    if (result.picture !== null)
      writeFileSync(join(now, `${id}.difference.png`), Buffer.from(result.picture.split(",")[1], "base64"));
    found.push({ id, share: result.share, note: result.picture === null ? "another size" : "" });
  }
  await page.close();
  return found.sort((a, b) => b.share - a.share);
}

/** One page with what differs: before, now, and the difference. */
export function report(found, folder) {
  const cell = (path, text) => `<figure><figcaption>${text}</figcaption><img loading="lazy" src="${path}"></figure>`;
  const rows = found.map(
    ({ id, share, note }) =>
      `<section><h2>${id} <small>${note || `${(share * 100).toFixed(2)}% of the pixels`}</small></h2><div>${
        note === "new" ? "" : cell(`../before/${id}.png`, "before")
      }${cell(`${id}.png`, "now")}${note === "" ? cell(`${id}.difference.png`, "difference") : ""}</div></section>`,
  );
  const style =
    "body{font:15px sans-serif;margin:24px}div{display:flex;gap:12px}figure{flex:1;margin:0}img{width:100%;border:1px solid #999}";
  const file = join(folder, "review.html");
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><title>Pages that look different</title><style>${style}</style><h1>${
      found.length === 0 ? "No page looks different" : `${found.length} pictures differ`
    }</h1>${rows.join("")}`,
  );
  return file;
}

export const countOf = (folder) =>
  existsSync(folder)
    ? readdirSync(folder).filter((name) => name.endsWith(".png") && !name.includes(".difference")).length
    : 0;
