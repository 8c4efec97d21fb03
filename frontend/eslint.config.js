import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "src/lib/api/schema.d.ts", ".dependency-cruiser.cjs"] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    files: ["**/*.{ts,tsx}"],
    plugins: { "react-hooks": hooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "max-lines": ["error", { max: 300, skipBlankLines: true }],
      "no-console": "error",
      "no-restricted-properties": [
        "error",
        ...["mock", "doMock"].map((property) => ({
          object: "vi",
          property,
          message:
            "Test files share a worker's modules, so this works or not by their order: pass in what is to be replaced.",
        })),
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "ExportAllDeclaration",
          message: "No barrel files: import from the module that defines the thing.",
        },
        { selector: "ExportDefaultDeclaration", message: "Named exports only, so that a name is the same everywhere." },
      ],
    },
  },
  {
    files: ["mock/*.mjs", "scripts/**/*.mjs"],
    languageOptions: {
      globals: {
        process: "readonly",
        URL: "readonly",
        fetch: "readonly",
        URLSearchParams: "readonly",
        setInterval: "readonly",
        clearInterval: "readonly",
        Buffer: "readonly",
      },
    },
  },
  {
    // Parts of these run in the page.
    files: ["scripts/pictures/*.mjs"],
    languageOptions: {
      globals: Object.fromEntries(
        ["document", "localStorage", "Image", "ImageData", "OffscreenCanvas"].map((name) => [name, "readonly"]),
      ),
    },
  },
  { files: ["*.config.{ts,js}"], rules: { "no-restricted-syntax": "off" } },
);
