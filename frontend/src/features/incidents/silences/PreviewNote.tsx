import { List, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import type { Matcher } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { usePreview } from "./queries";

const TYPING_MS = 400;

/** What the conditions match just now, before anything is silenced. */
export function PreviewNote({ matchers }: { matchers: readonly Matcher[] }) {
  const [asked] = useDebouncedValue(matchers, TYPING_MS);
  const complete = asked.every((matcher) => matcher.value !== "");
  const preview = usePreview(complete ? asked : []);
  if (!complete) {
    return (
      <Text size="sm" c="dimmed">
        Fill in the values to preview the matches.
      </Text>
    );
  }
  if (preview.error) return <ProblemNotice error={preview.error} />;
  if (!preview.data) {
    return (
      <Text size="sm" c="dimmed" role="status">
        Checking matches…
      </Text>
    );
  }
  const { incidents, rnics, hosts, sample } = preview.data;
  return (
    <div role="status" aria-label="Preview">
      <Text size="sm">
        Matches <b>{plural(incidents, "unresolved incident")}</b> and {plural(rnics, "RNIC")} on {plural(hosts, "host")}
        .
      </Text>
      {incidents === 0 && (
        <Text size="sm" c="dimmed">
          Nothing matches now. The silence still applies to new incidents while it is active.
        </Text>
      )}
      <List size="sm" mt={4}>
        {sample.map((each) => (
          <List.Item key={each.id}>
            <Link to="/incidents/$id" params={{ id: each.id }} target="_blank">
              {each.title}
            </Link>{" "}
            {each.host} {each.pci}
          </List.Item>
        ))}
      </List>
      {incidents > sample.length && sample.length > 0 && (
        <Text size="xs" c="dimmed">
          and {plural(incidents - sample.length, "more incident")}
        </Text>
      )}
    </div>
  );
}
