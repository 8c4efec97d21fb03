import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { StateMark } from "./StateMark";

it.each([
  ["failed", "◆", "Failed"],
  ["verifying", "◐", "Verifying"],
  ["confirmed", "●", "Confirmed"],
  ["quarantined", "○", "quarantined"],
])("%s has a shape and a word", (state, shape, label) => {
  const { container } = renderPage(<StateMark machine="remedy" state={state} />);
  expect(container).toHaveTextContent(`${shape}${label}`);
  expect(screen.getByText(label)).toBeInTheDocument();
});
