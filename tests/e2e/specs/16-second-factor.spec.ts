import { expect, test, type Locator } from "@playwright/test";
import jsQR from "jsqr";
import { expectAccessible } from "../support/axe";
import { password } from "../support/environment";

/** The pixels of a drawing as the browser paints it, in red, green, blue and opacity. */
async function painted(drawing: Locator): Promise<{ pixels: Uint8ClampedArray; width: number; height: number }> {
  const { pixels, width, height } = await drawing.evaluate(async (svg) => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("this browser has no canvas");
    context.drawImage(image, 0, 0);
    return {
      pixels: [...context.getImageData(0, 0, canvas.width, canvas.height).data],
      width: canvas.width,
      height: canvas.height,
    };
  });
  return { pixels: Uint8ClampedArray.from(pixels), width, height };
}

test("the QR code of a second factor holds the link of the enrolment, and the dialog has no violation", async ({
  page,
}) => {
  await page.goto("/account");
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog", { name: "Turn on the second factor" });
  await dialog.getByLabel("Current password", { exact: true }).fill(password());
  await dialog.getByRole("button", { name: "Continue" }).click();
  const { pixels, width, height } = await painted(dialog.getByRole("img", { name: /^QR code/ }));
  const link = await dialog.getByRole("link", { name: "Open it with the secret" }).getAttribute("href");
  expect(link).toMatch(/^otpauth:\/\/totp\//);
  expect(jsQR(pixels, width, height)?.data).toBe(link);
  await expectAccessible(page);
});
