import { Progress, Stack, Text } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { Remedy } from "@/lib/api/types";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { useNow } from "@/lib/time/useNow";
import { StatusMark } from "@/lib/ui/StatusMark";
import { changeText, effectText, factsOf } from "../facts";

/** The charts are a third of all code; a dialog must not wait for them. */
const EffectChart = lazy(() => import("./EffectChart").then((module) => ({ default: module.EffectChart })));

const FACT = { display: "flex", flexWrap: "wrap", gap: "0 8px", alignItems: "center" } as const;

function Detail({ children }: { children: string }) {
  return (
    <Text size="xs" component="dd" m={0} w="100%">
      {children}
    </Text>
  );
}

/** Two facts, always apart: whether the host has the change, and whether the symptom of the incident has cleared. */
export function RemedyFacts({ remedy }: { remedy: Remedy }) {
  const now = useNow();
  const { clock } = useTimeFormat();
  const { change, effect } = remedy;
  const facts = factsOf(remedy, now, clock);
  if (facts.length === 0) return null;
  return (
    <Stack gap={8}>
      <Stack gap={6} component="dl" m={0} aria-label="Facts">
        {facts.map((fact) => (
          <div key={fact.title} data-fact={fact.name} style={FACT}>
            <Text size="sm" fw={600} component="dt">
              {fact.title}
            </Text>
            <dd style={{ margin: 0 }}>
              <StatusMark tone={fact.tone}>{fact.text}</StatusMark>
            </dd>
            {fact.name === "change" && change && <Detail>{changeText(change)}</Detail>}
            {fact.name === "symptom" && (
              <Detail>
                {effect ? effectText(effect) : "No signal can show what this remedy does to the symptom."}
              </Detail>
            )}
          </div>
        ))}
      </Stack>
      {remedy.state === "verifying" && <Progress value={100} animated striped size="sm" aria-label="Verifying" />}
      {effect && (
        <Suspense fallback={null}>
          <EffectChart remedy={remedy} />
        </Suspense>
      )}
    </Stack>
  );
}
