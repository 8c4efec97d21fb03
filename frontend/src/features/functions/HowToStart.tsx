import { Code, List } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "@/lib/ui/EmptyState";

/** No model yet: what a model is made of, and where to begin. */
export function HowToStart({ title, here = false }: { title: string; here?: boolean }) {
  return (
    <EmptyState title={title}>
      A model predicts what a network function gets next to its neighbours on a SmartNIC.
      <List type="ordered" size="sm" ta="left" mt={8} mx="auto" w="fit-content">
        <List.Item>
          Profile the function next to a memory bench: rows of flows, packet size, seven counters, throughput.
        </List.Item>
        <List.Item>
          {here ? "Upload the files" : <Link to="/functions/models">Upload the files</Link>} (<Code>*mem_train*</Code>,
          and <Code>*reg_train*</Code>, <Code>*own_load*</Code>). Examples are in <Code>docs/examples/functions</Code>.
        </List.Item>
        <List.Item>Review the errors, promote the version, and set what the function may lose.</List.Item>
      </List>
    </EmptyState>
  );
}
