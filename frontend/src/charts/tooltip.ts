/** Text that is safe in a tooltip's HTML. */
export class Html {
  constructor(readonly text: string) {}
}

function escape(text: string): string {
  return text.replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
}

type Part = string | number | Html | readonly Html[];

function render(part: Part): string {
  if (part instanceof Html) return part.text;
  return typeof part === "object" ? part.map((each) => each.text).join("<br/>") : escape(String(part));
}

/** A template whose values are escaped: names come from hosts, files and people. A list of lines is joined by line breaks. */
export function html(fixed: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(fixed.reduce((text, piece, i) => text + render(values[i - 1] ?? "") + piece));
}

/** The marker that ECharts draws itself: a coloured dot. */
export function marker(made: string): Html {
  return new Html(made);
}

/** The only place where a chart's tooltip becomes text of HTML. */
export function tooltipFormatter<T>(build: (item: T) => Html): (item: T) => string {
  return (item) => build(item).text;
}
