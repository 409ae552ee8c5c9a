# What runs on each line, and what it may call: NAME > CALLEE, CALLEE | NAME ... (tests/live/marked.py).
use strict;
use warnings;
use List::Util qw(first);
use Time::HiRes qw(time);

package Shape;
use overload '+' => \&plus, '""' => sub { "shape" };    #: Shape::__ANON__

sub new { return bless {}, shift }                      #: Shape::new

sub area {
    my ($self, $n) = @_;                                #: Shape::area
    my $x = 0;                                          #: Shape::area
    for my $i (1 .. $n) {                               #: Shape::area
        $x += $i * 2;                                   #: Shape::area
        $x %= 65537;                                    #: Shape::area
    }
    return $x;                                          #: Shape::area
}

sub plus {
    my ($self, $n) = @_;                                #: Shape::plus
    return $self->area($n);                             #: Shape::plus > Shape::area
}

sub make {
    my ($class, $n) = @_;                               #: Shape::make
    my @sorted = sort { by_work($n) || $a <=> $b } 3, 1, 2; #: Shape::make > Shape::by_work, Shape::DESTROY
    my $sum = Shape->new + $n;                          #: Shape::make > Shape::new, Shape::plus, Shape::DESTROY
    return Shape->new->area($n);                        #: Shape::make > Shape::new, Shape::area, Shape::DESTROY
}

sub by_work {
    my $s = 0;                                          #: Shape::by_work
    $s += $_ for 1 .. shift;                            #: Shape::by_work
    return 0;                                           #: Shape::by_work
}

sub DESTROY {
    my $s = 0;                                          #: Shape::DESTROY
    $s += $_ for 1 .. 50;                               #: Shape::DESTROY
}

package main;

sub again {
    my ($n, $depth) = @_;                               #: main::again
    return Shape->make($n) unless $depth;               #: main::again > Shape::make
    return again($n, $depth - 1);                       #: main::again > main::again
}

sub catching {
    my $n = shift;                                      #: main::catching
    eval { again($n, 2); die "never mind\n" };          #: main::catching > main::again, Shape::DESTROY
    my $f = first { eval { again($n, 0) }; 0 } 1, 2;    #: main::catching > main::__ANON__ | main::__ANON__ > main::again, Shape::DESTROY
    eval "again($n, 1); 1" or die $@;                   #: main::catching > eval, Shape::DESTROY
}

my $ends = time + ($ARGV[0] // 1);
while (time < $ends) {                                  #: (main program)
    catching(300);                                      #: (main program) > main::catching
}
#: eval > main::again, Shape::DESTROY
#: main::BEGIN > require
#: require > main::BEGIN
