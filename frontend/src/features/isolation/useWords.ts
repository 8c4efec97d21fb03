import { useMemo } from "react";
import { useCatalogue } from "@/lib/api/useCatalogue";

interface Word {
  label: string;
  meaning: string;
}

export interface Words {
  state: (id: string) => Word;
  role: (id: string) => Word;
  /** Null: promises were broken, but what was overloaded could not be determined. */
  mechanism: (id: string | null) => Word;
}

const UNDETERMINED: Word = {
  label: "undetermined",
  meaning: "Promises were broken, but the counters do not say what was overloaded.",
};

/** Labels and meanings of states, roles and mechanisms, as the API's catalogue has them; what it lacks goes by its id. */
export function useWords(): Words {
  const { data } = useCatalogue();
  return useMemo(() => {
    const lookup = (words: readonly ({ id: string } & Word)[] | undefined) => {
      const known = new Map(words?.map((word) => [word.id, word]));
      return (id: string) => known.get(id) ?? { label: id, meaning: "" };
    };
    const mechanism = lookup(data?.isolation.mechanisms);
    return {
      state: lookup(data?.isolation.states),
      role: lookup(data?.isolation.roles),
      mechanism: (id) => (id === null ? UNDETERMINED : mechanism(id)),
    };
  }, [data]);
}
