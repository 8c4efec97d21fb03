import { Code } from "@mantine/core";
import { Fragment } from "react";

/** A sentence of the catalogue; what stands between backticks is shown as what one types. */
export function CodeWords({ children }: { children: string }) {
  return (
    <>
      {children.split("`").map((part, i) => (
        <Fragment key={i}>{i % 2 === 1 ? <Code>{part}</Code> : part}</Fragment>
      ))}
    </>
  );
}
