import { Grid, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Catalogue } from "@/lib/api/types";
import { useWholeCatalogue } from "@/lib/api/useCatalogue";
import { formatShare } from "@/lib/format";
import { symptomWord } from "@/lib/symptoms";
import { EmptyState } from "@/lib/ui/EmptyState";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { SymptomBadge } from "@/lib/ui/SymptomBadge";
import { Advice, KnownOn } from "./BehaviourPanels";
import { CauseTable } from "./CauseTable";
import { DefinitionPanel, NearMisses, SymptomRemedies } from "./DefinitionPanel";
import { OpenIncidents } from "./OpenIncidents";
import classes from "./SymptomPage.module.css";

function Kinds({ catalogue, current }: { catalogue: Catalogue; current: string }) {
  return (
    <nav aria-label="Symptoms" className={classes["kinds"]}>
      {catalogue.symptoms.map(({ id, title }) => (
        <Link
          key={id}
          to="/symptoms/$symptom"
          params={{ symptom: id }}
          title={title}
          aria-current={id === current ? "page" : undefined}
          className={classes["kind"]}
        >
          {symptomWord(id)}
        </Link>
      ))}
    </nav>
  );
}

function Known({ catalogue, id }: { catalogue: Catalogue; id: string }) {
  const symptom = catalogue.symptoms.find((each) => each.id === id);
  if (!symptom) {
    return (
      <Stack gap={12}>
        <Title order={1}>{id}</Title>
        <EmptyState title="Unknown symptom">Choose one of the symptoms above.</EmptyState>
      </Stack>
    );
  }
  return (
    <Stack gap={12}>
      <header>
        <Group gap={10}>
          <SymptomBadge symptom={id} />
          <Title order={1}>{symptom.title}</Title>
        </Group>
        <Text size="sm" mt={4} maw={900}>
          {symptom.looks_like}
        </Text>
        <Text size="sm" c="dimmed" mt={2}>
          {[
            symptom.layer && `layer: ${symptom.layer}`,
            symptom.behaviour && "behaviour of the transport engine",
            symptom.ratio !== null && `${formatShare(symptom.ratio)} of a year’s performance issues`,
          ]
            .filter(Boolean)
            .join(" · ")}
        </Text>
      </header>
      <DefinitionPanel symptom={symptom} />
      <Grid gap={12}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          {symptom.behaviour ? (
            <KnownOn behaviour={symptom.behaviour} />
          ) : (
            <Panel title="Causes" flush>
              <CauseTable symptom={id} causes={catalogue.causes} />
            </Panel>
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap={12}>
            <Panel title="Unresolved incidents">
              <OpenIncidents symptom={id} />
            </Panel>
            {symptom.behaviour ? (
              <Advice behaviour={symptom.behaviour} />
            ) : (
              <Panel title="Remedies">
                <SymptomRemedies symptom={symptom} />
              </Panel>
            )}
            <Panel title="Near misses">
              <NearMisses symptom={symptom} />
            </Panel>
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** One kind of symptom: what it is, how it is found, what causes it, what helps, and where it is now. */
export function SymptomPage({ symptom }: { symptom: string }) {
  const catalogue = useWholeCatalogue();
  return (
    <QueryState query={catalogue} lines={10}>
      {(data) => (
        <Stack gap={12}>
          <Kinds catalogue={data} current={symptom} />
          <Known catalogue={data} id={symptom} />
        </Stack>
      )}
    </QueryState>
  );
}
