import { Button, Code, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { plural } from "@/lib/format";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import classes from "./FirstHost.module.css";
import { useFirstAgents } from "./queries";

interface StepProps {
  number: number;
  title: string;
  state: "done" | "current" | "ahead";
  children: ReactNode;
}

function Step({ number, title, state, children }: StepProps) {
  return (
    <li
      className={classes["step"]}
      data-done={state === "done" || undefined}
      data-current={state === "current" || undefined}
      aria-current={state === "current" ? "step" : undefined}
    >
      <span className={classes["number"]} aria-hidden="true">
        {state === "done" ? "✓" : number}
      </span>
      <Stack gap={6} align="flex-start">
        <Text fw={600}>
          {title}
          {state === "done" && (
            <Text span size="sm" c="dimmed" fw={400}>
              {" "}
              done
            </Text>
          )}
        </Text>
        {children}
      </Stack>
    </li>
  );
}

/** Of an empty installation: the way to the first RNIC, and how far one has come on it. */
export function FirstHost() {
  const agents = useFirstAgents();
  const enrolled = agents.data?.items.length ?? 0;
  const connected = agents.data?.items.filter((agent) => agent.connected).length ?? 0;
  return (
    <Stack gap={14}>
      <div>
        <Title order={2}>No RNIC has reported yet</Title>
        <Text size="sm" c="dimmed">
          Three steps lead to the first one. This page follows along by itself.
        </Text>
      </div>
      {agents.error && <ProblemNotice error={agents.error} onRetry={() => void agents.refetch()} />}
      <ol className={classes["steps"]} aria-label="Steps to the first RNIC">
        <Step number={1} title="Enrol a host" state={enrolled > 0 ? "done" : "current"}>
          {enrolled > 0 ? (
            <Text size="sm">
              {plural(enrolled, "agent")} enrolled, {connected} connected. <Link to="/hosts">Show the hosts</Link>
            </Text>
          ) : (
            <>
              <Text size="sm">
                Create a token that works once, and give it to the agent: <Code>wallwatch-agent enrol</Code>. An
                administrator has to do this.
              </Text>
              <Button size="compact-sm" renderRoot={(props) => <Link to="/hosts" search={{ enrol: "1" }} {...props} />}>
                Create an enrolment token
              </Button>
            </>
          )}
        </Step>
        <Step
          number={2}
          title="Start the agent and the collector"
          state={connected > 0 ? "done" : enrolled > 0 ? "current" : "ahead"}
        >
          <Text size="sm">
            <Code>wallwatch-agent</Code> applies remedies and holds the key of the host&apos;s telemetry.{" "}
            <Code>wallwatch-telegraf</Code> reads the RNICs and needs the address of Kafka.
          </Text>
        </Step>
        <Step number={3} title="Wait for the first samples" state={connected > 0 ? "current" : "ahead"}>
          <Text size="sm">
            RNICs appear here within one collection interval. If none does, read the collector&apos;s log on the host.
          </Text>
        </Step>
      </ol>
    </Stack>
  );
}
