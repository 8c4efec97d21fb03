import type { ForecastModel } from "@/lib/api/types";

/** What the forecasts are made by: a model of this fleet, the base model, or no model at all. */
export type ActiveModel =
  | { kind: "own"; model: ForecastModel }
  | { kind: "base"; model: ForecastModel; unusable?: ForecastModel }
  | { kind: "none"; unusable?: ForecastModel };

export function activeModel(models: readonly ForecastModel[]): ActiveModel {
  const champion = models.find((model) => model.role === "champion");
  if (champion && champion.problem === null) return { kind: "own", model: champion };
  const base = models.find((model) => model.role === "base" && model.problem === null);
  return base ? { kind: "base", model: base, unusable: champion } : { kind: "none", unusable: champion };
}

/** What a reader should know before reading a forecast, as a title and what to do; null where a model of this fleet forecasts. */
export function modelNotice(active: ActiveModel): { title: string; text: string } | null {
  if (active.kind === "own") return null;
  const action = active.unusable
    ? `Model ${active.unusable.id} cannot be used: see the models below.`
    : "Train a model on your fleet after a day: wallwatch forecast train";
  return active.kind === "base"
    ? {
        title: "Base model: medium confidence",
        text: `It was trained on simulated fleets and knows nothing of this one. ${action}`,
      }
    : {
        title: "No model: low confidence",
        text: `Forecasts continue the growth of the last minutes and let it fade. ${action}`,
      };
}
