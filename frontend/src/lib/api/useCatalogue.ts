import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { OTHER_SYMPTOMS, symptomWord } from "../symptoms";
import { api, unwrap } from "./client";

export const CATALOGUE_KEY = ["catalogue"];
export const WHOLE_CATALOGUE_KEY = ["catalogue", "whole"];

const UNCHANGING = { staleTime: Infinity, gcTime: Infinity };

/** States, and names of symptoms, causes and walls; they change with a release only. */
export function useCatalogue() {
  return useQuery({
    queryKey: CATALOGUE_KEY,
    queryFn: () => unwrap(api.GET("/api/v1/catalogue", { params: { query: { brief: true } } })),
    ...UNCHANGING,
  });
}

/** With definitions of symptoms, signals and fields: five times as much, for the few pages that show them. */
export function useWholeCatalogue() {
  return useQuery({
    queryKey: WHOLE_CATALOGUE_KEY,
    queryFn: () => unwrap(api.GET("/api/v1/catalogue")),
    ...UNCHANGING,
  });
}

export interface Names {
  symptom: (id: string) => string;
  cause: (id: string) => string;
  wall: (id: string) => string;
}

type Catalogue = NonNullable<ReturnType<typeof useCatalogue>["data"]>;

function namesIn(catalogue: Catalogue | undefined): Names {
  const symptoms = new Map(catalogue?.symptoms.map((each) => [each.id, each.title]));
  const causes = new Map(catalogue?.causes.map((each) => [each.id, each.title]));
  const walls = new Map(catalogue?.walls.map((each) => [each.id, each.label]));
  return {
    symptom: (id) => symptoms.get(id) ?? OTHER_SYMPTOMS[id]?.name ?? id,
    cause: (id) => causes.get(id) ?? id,
    wall: (id) => walls.get(id) ?? id,
  };
}

const BARE = namesIn(undefined);
/** Each badge asks for names: they are collected once for each catalogue. */
const namesOf = new WeakMap<Catalogue, Names>();

/** Names by id. What the catalogue does not know, or while it loads, goes by its bare id. */
export function useNames(): Names {
  const { data } = useCatalogue();
  if (data === undefined) return BARE;
  const known = namesOf.get(data) ?? namesIn(data);
  namesOf.set(data, known);
  return known;
}

/** All symptoms as choices of a filter. */
export function useSymptomChoices(): { value: string; label: string }[] {
  const { data } = useCatalogue();
  return useMemo(
    () => (data?.symptoms ?? []).map(({ id, title }) => ({ value: id, label: `${symptomWord(id)} ${title}` })),
    [data],
  );
}
