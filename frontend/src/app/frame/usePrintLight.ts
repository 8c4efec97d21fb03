import { useEffect } from "react";

const SCHEME = "data-mantine-color-scheme";
const FROM = "data-printed-from";

/** Paper is white: a page in the dark theme is printed in the light one, and is dark again afterwards. */
export function usePrintLight(): void {
  useEffect(() => {
    const root = document.documentElement;
    const before = () => {
      if (root.getAttribute(SCHEME) !== "dark") return;
      root.setAttribute(FROM, "dark");
      root.setAttribute(SCHEME, "light");
    };
    const after = () => {
      const scheme = root.getAttribute(FROM);
      if (scheme === null) return;
      root.setAttribute(SCHEME, scheme);
      root.removeAttribute(FROM);
    };
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    return () => {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
      after();
    };
  }, []);
}
