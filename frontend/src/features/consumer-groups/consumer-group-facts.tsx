import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Figure } from '@/components/figure';
import { ProtectionFact } from '@/components/protection-fact';
import { formatCount } from '@/lib/format';
import { readingOf, unknown } from '@/lib/reading';
import { AgeFigure } from './age-figure';
import type { ConsumerGroupDetail } from './consumer-group';
import { GroupState } from './group-state';
import { LagFigure } from './lag-figure';

/** The group's figures in one line. */
export function ConsumerGroupFacts({ group }: { group: ConsumerGroupDetail }) {
  const { t } = useTranslation();
  const models = group.models.map((model) => t(`consumerModel.${model}`)).join(', ');
  const may = group.settings.filter((one) => one.consumeEnabled).length;
  return (
    <Facts>
      <Fact label={t('consumerGroup.state')} foot={models || undefined}>
        <GroupState group={group} />
      </Fact>
      <Fact label={t('consumerGroup.lag')}>
        <LagFigure lag={group.lag} />
      </Fact>
      <Fact label={t('consumerGroup.waiting')}>
        <AgeFigure {...group.lag} />
      </Fact>
      <Fact label={t('consumerGroup.retries')}>
        <LagFigure lag={group.retryLag} />
      </Fact>
      <Fact label={t('consumerGroup.deadLetters')}>
        <Figure
          reading={readingOf(group, (one) => one.deadLetterCount)}
          format={(count) =>
            group.isDeadLetterCountComplete
              ? formatCount(count)
              : t('groupLag.atLeast', { count: formatCount(count) })
          }
        />
      </Fact>
      <Fact label={t('consumerGroup.mayConsume')} foot={t('consumerGroup.mayConsumeOn')}>
        {group.settings.length > 0 ? (
          t('consumerGroup.mayConsumeCount', { may, total: group.settings.length })
        ) : (
          <Figure reading={unknown} format={formatCount} />
        )}
      </Fact>
      <ProtectionFact protection={group.protection} />
    </Facts>
  );
}
