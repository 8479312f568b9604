import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import classes from './search-field.module.css';

type SearchFieldProps = {
  label: string;
  search: string | undefined;
  onSearch: (search: string | undefined) => void;
};

const settleMs = 250;

/** The filter of a page, which the key "/" leads to; it tells once nobody types any more. */
export function SearchField({ label, search, onSearch }: SearchFieldProps) {
  const settle = useDebouncedCallback(
    (text: string) => onSearch(text.trim() || undefined),
    settleMs,
  );
  return (
    <TextInput
      // A search that came with the address, or went with the back button, is shown again.
      key={search ?? ''}
      className={classes.field}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} aria-hidden />}
      defaultValue={search ?? ''}
      onChange={(event) => settle(event.currentTarget.value)}
      autoComplete="off"
      spellCheck={false}
      data-filter
    />
  );
}
