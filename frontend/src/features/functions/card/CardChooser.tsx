import { Group, NumberInput, Select, TextInput } from "@mantine/core";
import { distinct } from "@/lib/distinct";
import type { NfCard, NfModel } from "@/lib/api/types";
import type { FunctionsSearch } from "../scenario";

interface Props {
  search: FunctionsSearch;
  model: string;
  firmware: string;
  cores: number;
  cards: readonly NfCard[];
  models: readonly NfModel[];
  onSearch: (search: FunctionsSearch) => void;
}

const PLANNED = "planned";

function keyOf({ host, pci }: { host: string; pci: string }): string {
  return `${host} ${pci}`;
}

/** A card that is measured, or one that somebody plans: its model, firmware and cores. */
export function CardChooser({ search, model, firmware, cores, cards, models, onSearch }: Props) {
  const chosen = search.host && search.pci ? keyOf({ host: search.host, pci: search.pci }) : PLANNED;
  const measured = chosen !== PLANNED;
  return (
    <Group gap={8} align="end" role="group" aria-label="Card">
      <Select
        data-focus-filter
        label="Card"
        w={280}
        searchable
        allowDeselect={false}
        value={chosen}
        onChange={(value) => {
          const card = cards.find((each) => keyOf(each) === value);
          onSearch(card ? { host: card.host, pci: card.pci } : { model, cores });
        }}
        data={[
          { value: PLANNED, label: "A card that I plan" },
          ...cards.map((card) => ({
            value: keyOf(card),
            label: `${keyOf(card)} (${card.functions.length})`,
          })),
          ...(measured && !cards.some((card) => keyOf(card) === chosen) ? [{ value: chosen, label: chosen }] : []),
        ]}
      />
      <Select
        label="Card model"
        w={130}
        allowDeselect={false}
        disabled={measured}
        value={model}
        onChange={(value) => onSearch({ ...search, model: value ?? undefined, on: undefined, add: undefined })}
        data={distinct([...models.map((each) => each.nic_model), model])}
      />
      <TextInput
        label="Firmware"
        placeholder="any"
        w={140}
        disabled={measured}
        value={firmware}
        maxLength={100}
        onChange={(event) => onSearch({ ...search, fw: event.currentTarget.value.trim() || undefined })}
      />
      <NumberInput
        label="Cores"
        w={90}
        min={1}
        max={64}
        value={cores}
        onChange={(value) => typeof value === "number" && onSearch({ ...search, cores: value })}
      />
    </Group>
  );
}
