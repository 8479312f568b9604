import { SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { TopicKind } from '@/gql/operations';
import classes from './topic-filters.module.css';
import { isTopicKind, topicKinds } from './topic-kind';

type TopicFiltersProps = {
  search: string | undefined;
  kind: TopicKind | undefined;
  onSearch: (search: string | undefined) => void;
  onKind: (kind: TopicKind | undefined) => void;
};

const settleMs = 250;

/** Narrows the topics by name and by kind. */
export function TopicFilters({ search, kind, onSearch, onKind }: TopicFiltersProps) {
  const { t } = useTranslation();
  const settle = useDebouncedCallback(
    (text: string) => onSearch(text.trim() || undefined),
    settleMs,
  );
  return (
    <search className={classes.filters}>
      <TextInput
        // A search that came with the address, or went with the back button, is shown again.
        key={search ?? ''}
        className={classes.search}
        aria-label={t('topics.search')}
        placeholder={t('topics.search')}
        leftSection={<IconSearch size={14} aria-hidden />}
        defaultValue={search ?? ''}
        onChange={(event) => settle(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        data-filter
      />
      <SegmentedControl
        aria-label={t('topics.kind')}
        value={kind ?? 'ALL'}
        onChange={(value) => onKind(isTopicKind(value) ? value : undefined)}
        data={[
          { value: 'ALL', label: t('topics.allKinds') },
          ...topicKinds.map((value) => ({ value, label: t(`topicKind.${value}`) })),
        ]}
      />
    </search>
  );
}
