import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Evidence, Hypothesis } from "@/lib/api/types";
import { renderPage } from "@/testing/render";
import { HypothesisList } from "./HypothesisList";

const evidence = (text: string) => ({ signal: text, label: text, unit: "ratio", value: 1, text }) as Evidence;
const hypothesis = (cause: string, posterior: number, texts: string[] = []): Hypothesis => ({
  cause,
  title: `Cause ${cause}`,
  prior: 0.1,
  posterior,
  evidence_for: texts.map(evidence),
  evidence_against: [],
  next_test: null,
});
const causes = () => screen.getAllByRole("listitem").flatMap((item) => item.dataset["cause"] ?? []);

test("improbable causes are counted, and listed on request", async () => {
  renderPage(
    <HypothesisList
      symptom="S1"
      hypotheses={[hypothesis("C2", 0.005), hypothesis("C1", 0.17), hypothesis("C5", 0.8), hypothesis("C3", 0.01)]}
    />,
  );
  expect(causes()).toEqual(["C5", "C1"]);
  await userEvent.click(screen.getByRole("button", { name: "2 other causes below 2.0%" }));
  expect(causes()).toEqual(["C5", "C1", "C3", "C2"]);
});

test("the likeliest cause is listed even when it is improbable, with its two first pieces of evidence", async () => {
  renderPage(<HypothesisList symptom="S1" hypotheses={[hypothesis("C5", 0.01, ["first", "second", "third"])]} />);
  expect(causes()).toEqual(["C5"]);
  expect(screen.getByText(/^\+ second/)).toBeVisible();
  expect(screen.queryByText(/^\+ third/)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "1 more" }));
  expect(screen.getByText(/^\+ third/)).toBeVisible();
});

test("a behaviour of a transport engine has no causes, and its page says what to do", async () => {
  renderPage(<HypothesisList symptom="B4" hypotheses={[]} />);
  expect(screen.getByText("The RNIC itself behaves like this")).toBeVisible();
  expect(screen.getByText("What to do about B4")).toBeVisible();
  expect(screen.queryByText("No causes ranked yet")).toBeNull();
});
