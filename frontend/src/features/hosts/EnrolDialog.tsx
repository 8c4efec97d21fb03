import { Code, Select, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useTimeFormat } from "@/lib/time/ZoneContext";
import { FormDialog } from "@/lib/ui/FormDialog";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { useCreateEnrolmentToken } from "./queries";

const LIFETIMES = [
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
];

/** Makes the token with which one agent enrols, once. */
export function EnrolDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateEnrolmentToken();
  const { time } = useTimeFormat();
  const form = useForm({ initialValues: { host: "", ttl: "3600" } });
  return (
    <FormDialog
      title="Enrol an agent"
      submit="Create token"
      request={create}
      onSubmit={form.onSubmit(({ host, ttl }) => create.mutate({ host: host.trim() || null, ttl_s: Number(ttl) }))}
      onClose={onClose}
      outcome={
        create.data && (
          <>
            <SecretOnce
              label="Enrolment token"
              secret={create.data.token}
              hint={`Valid once, ${create.data.host ? `on ${create.data.host} only` : "on any host without an agent"}, until ${time(create.data.expires_at)}.`}
            />
            <Text size="sm">
              On the host run <Code>wallwatch-agent enrol --url {create.data.server_url} --token -</Code> and paste the
              token. Once started, the agent connects within seconds and appears in the list.
            </Text>
          </>
        )
      }
    >
      <TextInput
        label="Host"
        description="Binds the token to one host; empty: any host without an agent."
        placeholder="any host"
        {...form.getInputProps("host")}
      />
      <Select label="Valid for" data={LIFETIMES} allowDeselect={false} {...form.getInputProps("ttl")} />
    </FormDialog>
  );
}
