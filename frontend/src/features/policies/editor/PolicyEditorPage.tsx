import { Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { QueryState } from "@/lib/ui/QueryState";
import { usePolicy } from "../queries";
import { draftOf, EMPTY } from "./draft";
import { PolicyEditor } from "./PolicyEditor";

interface Props {
  /** The policy that is edited; null for a new one. */
  id: string | null;
  /** The policy that a new one starts from. */
  copy: string | null;
}

/** Where policies are written: a new one, a copy, or the next version of one. */
export function PolicyEditorPage({ id, copy }: Props) {
  const source = usePolicy(id ?? copy);
  if (id === null && copy === null) return <PolicyEditor policy={null} initial={EMPTY} />;
  if (source.error && !source.data) {
    return (
      <Stack gap={12}>
        <Title order={1}>{id ?? "New policy"}</Title>
        <ProblemNotice error={source.error} onRetry={() => void source.refetch()} />
        <Text size="sm">
          <Link to="/policies">See all policies</Link>
        </Text>
      </Stack>
    );
  }
  return (
    <QueryState query={source} lines={12}>
      {(policy) =>
        id !== null && !policy.own ? (
          <Text>
            Built-in policies cannot be changed.{" "}
            <Link to="/policies/new" search={{ copy: id }}>
              Create a copy
            </Link>
          </Text>
        ) : (
          <PolicyEditor
            key={policy.id}
            policy={id === null ? null : policy}
            initial={
              id === null
                ? {
                    ...draftOf(policy.definition, ""),
                    title: `Copy of ${policy.title}`.slice(0, 100),
                    id: `${policy.id}-copy`.slice(0, 63),
                  }
                : draftOf(policy.draft?.definition ?? policy.definition, policy.id)
            }
          />
        )
      }
    </QueryState>
  );
}
