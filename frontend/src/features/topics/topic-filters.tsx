import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SearchField } from '@/components/search-field';
import type { TopicKind } from '@/gql/operations';
import classes from './topic-filters.module.css';
import { isTopicKind, topicKinds } from './topic-kind';

type TopicFiltersProps = {
  search: string | undefined;
  kind: TopicKind | undefined;
  onSearch: (search: string | undefined) => void;
  onKind: (kind: TopicKind | undefined) => void;
};

/** Narrows the topics by name and by kind. */
export function TopicFilters({ search, kind, onSearch, onKind }: TopicFiltersProps) {
  const { t } = useTranslation();
  return (
    <search className={classes.filters}>
      <SearchField label={t('topics.search')} search={search} onSearch={onSearch} />
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
