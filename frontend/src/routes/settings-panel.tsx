import { SegmentedControl } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { SearchField } from '@/components/search-field';
import { WriteButton } from '@/components/write-button';
import { chooseProperties } from '@/features/brokers/broker';
import type { BrokerKey } from '@/features/brokers/broker-queries';
import { PropertyTable } from '@/features/brokers/property-table';
import { changeConfig, changesMax } from '@/features/orders/broker-orders';
import type { BrokerConfigQuery } from '@/gql/operations';
import type { Answer } from '@/lib/graphql';
import { OrderModal } from './order-modal';
import { withinPage } from './within-page';

type SettingsPanelProps = {
  broker: BrokerKey;
  brokerName: string;
  query: UseQueryResult<Answer<BrokerConfigQuery>>;
};

/** The settings of a broker as it reports them, and the way to change some of them. */
export function SettingsPanel({ broker, brokerName, query }: SettingsPanelProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/brokers/$brokerName' });
  const { search, only } = useSearch({ from: '/console/brokers/$brokerName' });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isOpen, setIsOpen] = useState(false);
  const choose = useCallback((property: string, isChosen: boolean) => {
    setChosen((now) => {
      const next = new Set(now);
      if (isChosen) next.add(property);
      else next.delete(property);
      return next;
    });
  }, []);
  const all = query.data?.data.brokerConfig.properties ?? [];
  const wanted = all.filter((property) => chosen.has(property.name));
  return (
    <Panel
      title={t('settings.title')}
      aside={
        <>
          <Answered atMs={query.dataUpdatedAt} staleMs={Number.POSITIVE_INFINITY} />
          <SearchField
            label={t('settings.search')}
            search={search}
            onSearch={(text) =>
              void navigate({ search: (now) => ({ ...now, search: text }), ...withinPage })
            }
          />
          <SegmentedControl
            aria-label={t('settings.which')}
            value={only ?? 'all'}
            onChange={(which) =>
              void navigate({
                search: (now) => ({ ...now, only: which === 'changed' ? which : undefined }),
                ...withinPage,
              })
            }
            data={[
              { value: 'all', label: t('settings.all') },
              { value: 'changed', label: t('settings.changed') },
            ]}
          />
          <WriteButton
            disabled={wanted.length === 0 || wanted.length > changesMax}
            onClick={() => setIsOpen(true)}
          >
            {changeWords(t, wanted.length)}
          </WriteButton>
        </>
      }
      flush
    >
      <QueryView query={query}>
        {({ brokerConfig }) => {
          const shown = chooseProperties(brokerConfig.properties, { search, only });
          if (shown.length === 0) {
            return (
              <EmptyState title={t('settings.noMatch')}>{t('settings.noMatchNext')}</EmptyState>
            );
          }
          return <PropertyTable properties={shown} chosen={chosen} onChoose={choose} />;
        }}
      </QueryView>
      <OrderModal
        kind={isOpen ? changeConfig(broker, brokerName, wanted) : undefined}
        onClose={() => setIsOpen(false)}
      />
    </Panel>
  );
}

function changeWords(t: TFunction, count: number): string {
  if (count === 0) return t('settings.changeNone');
  return count > changesMax
    ? t('settings.changeTooMany', { max: changesMax })
    : t('settings.change', { count });
}
