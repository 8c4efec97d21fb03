import { Checkbox, NumberInput, Select, Stack, TextInput, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { FormDialog } from "@/lib/ui/FormDialog";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { useCreateToken } from "./queries";
import { ROLES, toRole } from "./roles";
import { SCOPES, namesIn, racksIn, toScopes } from "./scopes";

const LIFE_DAYS = 90;

/** Creates a token and shows it, once. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateToken();
  const form = useForm({
    initialValues: {
      name: "",
      owner: "",
      role: "viewer",
      scopes: ["read"],
      hosts: "",
      racks: "",
      days: LIFE_DAYS as number | string,
      forever: false,
    },
    validate: {
      name: (value) => (value.trim() ? null : "Enter a name that says who uses it"),
      scopes: (value, { hosts, racks }) =>
        value.length === 0
          ? "Choose at least one"
          : value.includes("admin") && namesIn(hosts + racks).length > 0
            ? "admin concerns the whole installation: deselect it, or leave hosts and racks empty"
            : null,
      days: (value, { forever }) =>
        forever || typeof value === "number" ? null : "Enter a number of days, or choose that it never expires",
    },
  });
  return (
    <FormDialog
      title="New API token"
      submit="Create token"
      request={create}
      onSubmit={form.onSubmit(({ name, owner, role, scopes, hosts, racks, days, forever }) =>
        create.mutate({
          name: name.trim(),
          owner: owner.trim() || null,
          role: toRole(role),
          scopes: toScopes(scopes),
          hosts: namesIn(hosts),
          racks: racksIn(racks),
          ttl_days: forever || typeof days !== "number" ? null : days,
        }),
      )}
      onClose={onClose}
      outcome={
        create.data && (
          <SecretOnce
            label="API token"
            secret={create.data.token}
            hint="Send it as Authorization: Bearer with each request."
          />
        )
      }
    >
      <TextInput label="Name" placeholder="grafana" {...form.getInputProps("name")} />
      <TextInput
        label="Owner"
        placeholder="you"
        description="The account that the token belongs to. It ends when that account is disabled."
        {...form.getInputProps("owner")}
      />
      <Select
        label="Role"
        description="At most the owner's role."
        data={ROLES.map((role) => ({ ...role }))}
        allowDeselect={false}
        {...form.getInputProps("role")}
      />
      <Checkbox.Group label="Scopes" description="What it may do within its role." {...form.getInputProps("scopes")}>
        <Stack gap={6} mt={6}>
          {SCOPES.map((scope) => (
            <Checkbox key={scope.value} value={scope.value} label={scope.label} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Textarea
        label="Hosts"
        placeholder="all hosts"
        description="Limits the token to requests about these hosts; lists of the fleet are refused."
        autosize
        minRows={1}
        {...form.getInputProps("hosts")}
      />
      <TextInput label="Racks" placeholder="all racks" {...form.getInputProps("racks")} />
      <NumberInput
        label="Expires after"
        suffix=" days"
        min={1}
        max={3650}
        disabled={form.values.forever}
        {...form.getInputProps("days")}
      />
      <Checkbox label="Never expires" {...form.getInputProps("forever", { type: "checkbox" })} />
    </FormDialog>
  );
}
