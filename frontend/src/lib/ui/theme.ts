import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

const steel: MantineColorsTuple = [
  "#e9f5fb",
  "#d3e7f2",
  "#a7cfe4",
  "#79b6d6",
  "#54a1ca",
  "#3c94c3",
  "#2487bb",
  "#1673a4",
  "#12628c",
  "#004f78",
];

/** Replaces Mantine's neutral greys, which its inputs and menus use in the dark scheme, by the slate of tokens.css. */
const slate: MantineColorsTuple = [
  "#dce4ec",
  "#b8c4cf",
  "#93a3b3",
  "#6c7d8e",
  "#2d3b4a",
  "#1f2a36",
  "#161f29",
  "#0b1016",
  "#090d12",
  "#06090d",
];

/** Dense: the product is read on a wall and in a hurry, so the base size is small and the radius nearly square. */
export const theme = createTheme({
  primaryColor: "steel",
  primaryShade: { light: 8, dark: 8 },
  colors: { steel, dark: slate },
  defaultRadius: "sm",
  fontFamily: 'Inter, "Inter stand-in", system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
  fontFamilyMonospace: "var(--ww-mono)",
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  headings: {
    fontWeight: "600",
    sizes: { h1: { fontSize: "1.25rem" }, h2: { fontSize: "1rem" }, h3: { fontSize: "0.875rem" } },
  },
  components: {
    Button: { defaultProps: { size: "xs" }, styles: { root: { flexShrink: 0 } } },
    TextInput: { defaultProps: { size: "xs" } },
    PasswordInput: { defaultProps: { size: "xs" } },
    NumberInput: { defaultProps: { size: "xs" } },
    Select: { defaultProps: { size: "xs", comboboxProps: { shadow: "md" } } },
    MultiSelect: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "xs" } },
    Table: {
      defaultProps: { verticalSpacing: 6, horizontalSpacing: "sm" },
      styles: {
        table: { fontSize: "var(--mantine-font-size-sm)" },
        th: { fontWeight: 600, color: "var(--ww-dim)", whiteSpace: "nowrap", background: "var(--ww-raised)" },
      },
    },
    Tooltip: { defaultProps: { openDelay: 250, withArrow: true } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Dismiss" } } },
    Modal: {
      defaultProps: { centered: true, closeButtonProps: { "aria-label": "Close" } },
      styles: {
        content: { background: "var(--ww-panel)", border: "1px solid var(--ww-line)" },
        header: { background: "var(--ww-panel)" },
        title: { fontWeight: 600, fontSize: "1rem" },
      },
    },
  },
});

const shared = {
  "--mantine-color-body": "var(--ww-bg)",
  "--mantine-color-text": "var(--ww-text)",
  "--mantine-color-dimmed": "var(--ww-dim)",
  "--mantine-color-default": "var(--ww-panel)",
  "--mantine-color-default-hover": "var(--ww-raised)",
  "--mantine-color-default-border": "var(--ww-line)",
  "--mantine-color-default-color": "var(--ww-text)",
  "--mantine-color-placeholder": "var(--ww-dim)",
  "--mantine-color-anchor": "var(--ww-accent)",
  "--mantine-color-error": "var(--ww-bad)",
};

/** Mantine's own variables follow our tokens, so that both schemes are defined in one place (tokens.css). */
export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared });
