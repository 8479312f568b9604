import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { UnknownBrokers } from '@/components/unknown-brokers';
import type { ConsumerGroupDetail } from './consumer-group';
import { ConsumerGroupFacts } from './consumer-group-facts';
import classes from './consumer-group-sections.module.css';
import { LagTable } from './lag-table';
import { MemberTable } from './member-table';
import { SubscriptionTable } from './subscription-table';

type ConsumerGroupSectionsProps = {
  group: ConsumerGroupDetail;
  staticTopics: ReadonlySet<string>;
  observedAtMs: number;
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** What there is to know about one consumer group, region by region. */
export function ConsumerGroupSections(props: ConsumerGroupSectionsProps) {
  const { group, staticTopics, observedAtMs, sort, onSort } = props;
  const { t } = useTranslation();
  const observed = <Answered atMs={observedAtMs} />;
  return (
    <>
      <UnknownBrokers unknown={group.unknown} />
      <ConsumerGroupFacts group={group} />
      <Panel title={t('groupLag.title')} aside={observed} flush>
        {group.queues.length > 0 ? (
          <LagTable
            queues={group.queues}
            staticTopics={staticTopics}
            isBroadcasting={!group.lag.isApplicable}
            sort={sort}
            onSort={onSort}
          />
        ) : (
          <EmptyState title={t('groupLag.none')}>{t('groupLag.noneNext')}</EmptyState>
        )}
      </Panel>
      <div className={classes.pair}>
        <Panel title={t('member.title')} aside={observed} flush>
          {group.members.length > 0 ? (
            <MemberTable members={group.members} />
          ) : (
            <EmptyState title={t('member.none')}>{t('member.noneNext')}</EmptyState>
          )}
        </Panel>
        <Panel title={t('subscription.title')} aside={observed} flush>
          {group.subscriptions.length > 0 ? (
            <SubscriptionTable subscriptions={group.subscriptions} />
          ) : (
            <EmptyState title={t('subscription.none')} />
          )}
        </Panel>
      </div>
    </>
  );
}
