import { Button, Group } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Policy } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { ConfirmButton } from "@/lib/ui/ConfirmButton";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useChangePolicy } from "./queries";

export function enableQuestion(policy: Pick<Policy, "where" | "agents_expected">, number: number): string {
  const to =
    policy.where === "edge"
      ? `sent to ${plural(policy.agents_expected, "agent")} now`
      : "applied by the server-side validator";
  return `Version ${number} is compiled and ${to}. Past results keep the version that produced them.`;
}

/** What can be done with a policy; the catalogue's can be switched and copied only. */
export function PolicyActions({ policy }: { policy: Policy }) {
  const change = useChangePolicy();
  const navigate = useNavigate();
  const { id, version, own, lifecycle, draft } = policy;
  const enabled = lifecycle === "enabled";
  const newest = policy.versions[0]?.number ?? 0;
  return (
    <>
      <Group gap={8}>
        {own && (
          <Button
            size="compact-sm"
            variant="default"
            renderRoot={(props) => <Link to="/policies/$id/edit" params={{ id }} {...props} />}
          >
            {draft ? "Edit the draft" : "Edit"}
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          renderRoot={(props) => <Link to="/policies/new" search={{ copy: id }} {...props} />}
        >
          Copy
        </Button>
        {own && (draft || !enabled) && (
          <ConfirmButton
            label={draft ? `Enable version ${newest}…` : "Enable again…"}
            question={enableQuestion(policy, draft ? newest : (policy.running ?? newest))}
            confirm="Enable"
            loading={change.isPending}
            onConfirm={() =>
              change.mutate({ kind: "enable", id, version, number: draft ? newest : (policy.running ?? newest) })
            }
          />
        )}
        {!own && !enabled && (
          <ConfirmButton
            label="Enable…"
            question="It is sent to all agents again."
            confirm="Enable"
            loading={change.isPending}
            onConfirm={() => change.mutate({ kind: "enable", id, version })}
          />
        )}
        {enabled && (
          <ConfirmButton
            label={own ? "Disable…" : "Disable…"}
            question="It is removed from all agents. Its past violations stay."
            confirm={own ? "Disable" : "Disable"}
            loading={change.isPending}
            onConfirm={() => change.mutate({ kind: "disable", id, version })}
          />
        )}
        {draft && (
          <ConfirmButton
            label="Delete the draft…"
            question={
              policy.running === null
                ? "This deletes the policy permanently."
                : `This deletes version ${newest}; version ${policy.running} stays.`
            }
            confirm="Delete"
            loading={change.isPending}
            onConfirm={() =>
              change.mutate(
                { kind: "delete", id, version },
                { onSuccess: () => (policy.running === null ? void navigate({ to: "/policies" }) : undefined) },
              )
            }
          />
        )}
      </Group>
      {change.isError && <ProblemNotice error={change.error} />}
    </>
  );
}
